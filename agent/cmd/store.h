/* SPDX-License-Identifier: Apache-2.0 */
/* The store of spans, for commands that read it: which one it is, and how it is opened. */
#ifndef CTXPROP_CMD_STORE_H
#define CTXPROP_CMD_STORE_H

#include <sqlite3.h>

#include "cmd/command.h"

/* `--store FILE`, among the options of a command. */
/* clang-format off */
#define COMMAND_STORE_OPTION {"store", 0, "FILE",                                                  \
	"another store than that of ctxpropd, or than the default one if no ctxpropd runs",        \
	.text = &command_store_named}
/* clang-format on */
extern const char *command_store_named; /* NULL: it was not said */

/*
 * The store that was named, or that of the daemon which attends this network namespace, or the
 * usual one if none answers. NULL: it has none, or none that can be read here.
 */
const char *command_store_path(void);

/* Complain about there being none; returns COMMAND_REFUSED. */
int command_refuse_path(void);

/* The options of a command that has no others. */
extern const struct option_row command_store_options[];

/* Open it for reading. NULL after a complaint. */
sqlite3 *command_open_store(void);

/* The same without a complaint, for what can be shown without a store. */
sqlite3 *command_try_store(void);

/* Complain about what SQLite says; returns COMMAND_REFUSED. */
int command_refuse_store(sqlite3 *db);

#endif
