/* SPDX-License-Identifier: Apache-2.0 */
/* Signals that are read from a descriptor, so that no handler ever runs. */
#ifndef CTXPROP_SIGNALS_H
#define CTXPROP_SIGNALS_H

/*
 * Block these signals (a list that ends with 0) in the calling thread, and in those that it makes
 * from now on, and ignore one more. Returns a descriptor, which the caller owns, that is readable
 * when one of the list has come (signalfd(2), not blocking, close-on-exec), or -errno.
 */
int signals_take(const int *signals, int ignored);

#endif
