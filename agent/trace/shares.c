// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "trace/shares.h"

#define PROBES 16

/* The last place is shared by all owners that find no place of their own. */
struct share *shares_of(struct shares *shares, const char *owner)
{
	const __u64 hash = hash_text(HASH_BEGIN, owner);
	struct share *share, *free_one = &shares->share[SHARES_OWNERS];

	for (size_t i = PROBES; i > 0; i--) {
		share = &shares->share[(hash + i) % SHARES_OWNERS];
		if (!share->taken)
			free_one = share;
		else if (!strcmp(share->owner, owner))
			return share;
	}
	if (!free_one->taken)
		text_copy(free_one->owner, sizeof(free_one->owner), owner);
	return free_one;
}

size_t shares_left(struct shares *shares, const char *owner)
{
	const size_t own = shares_of(shares, owner)->taken, most = shares->room / 4;
	const size_t first = shares->room / 2, all = shares->room - shares->taken;
	const size_t at_first = shares->taken < first ? first - shares->taken : 0;
	size_t later = own < most ? most - own : 0;

	if (later > all)
		later = all;
	return at_first > later ? at_first : later;
}

bool shares_take_some(struct shares *shares, const char *owner, size_t count)
{
	if (count > shares_left(shares, owner))
		return false;
	shares_of(shares, owner)->taken += count;
	shares->taken += count;
	return true;
}

bool shares_take(struct shares *shares, const char *owner)
{
	return shares_take_some(shares, owner, 1);
}

/* What all have together if none has more than `level`. */
static size_t sum_below(const struct shares *shares, size_t level)
{
	size_t sum = 0;

	for (size_t i = 0; i <= SHARES_OWNERS; i++)
		sum += shares->share[i].taken < level ? shares->share[i].taken : level;
	return sum;
}

size_t shares_level(const struct shares *shares, size_t room)
{
	size_t low = 0, high = room + 1, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (sum_below(shares, middle) <= room)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void shares_clear(struct shares *shares)
{
	memset(shares->share, 0, sizeof(shares->share));
	shares->taken = 0;
}
