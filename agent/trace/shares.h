/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides a table that all processes of the host share among owners (struct service): half of it is
 * for whoever comes first; of the rest, an owner that already has a quarter of the table gets
 * nothing.
 */
#ifndef CTXPROP_SHARES_H
#define CTXPROP_SHARES_H

#include <stdbool.h>
#include <stddef.h>

#define SHARES_OWNERS    509 /* further ones count as one owner */
#define SHARES_OWNER_MAX 65

/* All zero but for `room`, the entries of the table or its bytes: all are free. */
struct shares {
	size_t room, taken;
	struct share {
		char owner[SHARES_OWNER_MAX];
		size_t taken; /* 0: a free place */
	} share[SHARES_OWNERS + 1];
};

/* Take an entry for an owner. False: the table is full, or the owner has its share. */
bool shares_take(struct shares *shares, const char *owner);

/* The same of so many at once, or of none. */
bool shares_take_some(struct shares *shares, const char *owner, size_t count);

/* How many an owner could take now. */
size_t shares_left(struct shares *shares, const char *owner);

/*
 * The share of an owner; valid until an entry is taken for another one. The caller may add to its
 * `taken`.
 */
struct share *shares_of(struct shares *shares, const char *owner);

/* The largest limit for each owner with which all together have no more than `room`. */
size_t shares_level(const struct shares *shares, size_t room);

/* Free all entries. */
void shares_clear(struct shares *shares);

#endif
