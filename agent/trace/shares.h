/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has how much of a table that all processes of the host share: half of it is for whoever comes
 * first, of the rest an owner (struct service) gets nothing that has a quarter of the table
 * already.
 */
#ifndef CTXPROP_SHARES_H
#define CTXPROP_SHARES_H

#include <stdbool.h>
#include <stddef.h>

#define SHARES_OWNERS    509 /* beyond that they are one owner */
#define SHARES_OWNER_MAX 65

/* All zero but for `room`, the entries of the table, or its bytes: nobody has anything. */
struct shares {
	size_t room, taken;
	struct share {
		char owner[SHARES_OWNER_MAX];
		size_t taken; /* 0: a free place */
	} share[SHARES_OWNERS + 1];
};

/* Take an entry for an owner. False: the table is full, or he has his share. */
bool shares_take(struct shares *shares, const char *owner);

/* The same of so many at once, or of none. */
bool shares_take_some(struct shares *shares, const char *owner, size_t count);

/* How many an owner could take now. */
size_t shares_left(struct shares *shares, const char *owner);

/* What an owner has; good until somebody else gets something. He gets it by adding to `taken`. */
struct share *shares_of(struct shares *shares, const char *owner);

/* The most that each may have so that all have no more than `room` together. */
size_t shares_level(const struct shares *shares, size_t room);

/* Nobody has anything any more. */
void shares_clear(struct shares *shares);

#endif
