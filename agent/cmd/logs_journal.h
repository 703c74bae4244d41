/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of systemd's journal, with the ids of the requests that they were written for. */
#ifndef CTXPROP_CMD_LOGS_JOURNAL_H
#define CTXPROP_CMD_LOGS_JOURNAL_H

#include <stdbool.h>

struct journal_options {
	bool from_stdin;   /* entries come from there, else from journalctl(1) */
	const char *unit;  /* NULL: all */
	const char *since; /* as journalctl takes it; NULL: all */
};

/*
 * Print the entries in the form of `journalctl -o json`, those that get ids with members TRACE_ID
 * and SPAN_ID. `counts`: say at the end, on stderr, how many. Returns an exit code.
 */
int logs_journal(const struct journal_options *options, bool counts);

#endif
