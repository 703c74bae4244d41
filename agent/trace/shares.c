// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "trace/shares.h"

#define PROBES 16

/* The last place is that of all who find no place of their own. */
static struct share *find(struct shares *shares, const char *owner)
{
	const __u64 hash = hash_add(HASH_BEGIN, owner, strlen(owner));

	for (size_t i = 0; i < PROBES; i++) {
		struct share *share = &shares->share[(hash + i) % SHARES_OWNERS];

		if (!share->taken)
			text_copy(share->owner, sizeof(share->owner), owner);
		if (!strcmp(share->owner, owner))
			return share;
	}
	return &shares->share[SHARES_OWNERS];
}

bool shares_take(struct shares *shares, const char *owner)
{
	struct share *share = find(shares, owner);

	if (shares->taken == shares->room ||
	    (shares->taken >= shares->room / 2 && share->taken >= shares->room / 4))
		return false;
	share->taken++;
	shares->taken++;
	return true;
}

void shares_clear(struct shares *shares)
{
	memset(shares->share, 0, sizeof(shares->share));
	shares->taken = 0;
}
