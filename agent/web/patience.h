/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever asks the store waits for some seconds at most: a thread interrupts what is not over by
 * then, and everything when the server ends.
 */
#ifndef CTXPROP_WEB_PATIENCE_H
#define CTXPROP_WEB_PATIENCE_H

#include <stdbool.h>
#include <sqlite3.h>

/* Before the first query. 0 or -errno. */
int patience_begin(void);

/* The statements of this connection end when its time is over; -EBUSY: too many are watched. */
int patience_watch(sqlite3 *db);

/* Before it is closed. */
void patience_forget(sqlite3 *db);

/* From now on everything is interrupted at once. */
void patience_end(void);
bool patience_has_ended(void);

/* After the last query. */
void patience_free(void);

#endif
