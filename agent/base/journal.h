/* SPDX-License-Identifier: Apache-2.0 */
/* Entries with fields for the journal of systemd, by its native protocol. */
#ifndef CTXPROP_JOURNAL_H
#define CTXPROP_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

/* Is stderr connected to the journal, as JOURNAL_STREAM says? Asked once. */
bool journal_has_stderr(void);

/*
 * Send an entry without waiting: PRIORITY (as of syslog), MESSAGE (`length` bytes of text without a
 * line break), SYSLOG_IDENTIFIER (the program's name), CTXPROP_ID (`id`). 0; -EAGAIN: there is no
 * room for it now; -errno: the journal's socket cannot be reached.
 */
int journal_send(int priority, const char *id, const char *text, size_t length);

#endif
