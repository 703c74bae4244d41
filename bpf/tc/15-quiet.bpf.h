/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Beside stage 2: which flows are known to be left alone. What is not HTTP should cost next to
 * nothing, and most of what it costs is the search of the flow table.
 *
 * Each CPU remembers a few tuples of untouched flows, and at which epoch the table was when it
 * looked. Every new flow begins a new epoch for the tuples that share its hash, so what is
 * remembered never outlives the flow it is about: a new flow of the same tuple may be edited.
 */
#ifndef CTXPROP_TC_QUIET_BPF_H
#define CTXPROP_TC_QUIET_BPF_H

#include "10-packet.bpf.h"

#define QUIET_EPOCHS 1024 /* a power of two */

struct epochs {
	__u32 epoch[QUIET_EPOCHS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct epochs);
} epochs __weak SEC(".maps");

/* What this CPU has at the place of one tuple. */
struct quiet_look {
	struct quiet *place; /* NULL: nowhere */
	__u32 epoch;         /* of the tuple, now */
};

/* The upper bits are well mixed; tuples of one hash only share a place. */
static __always_inline __u64 quiet_hash(const struct flow_key *key)
{
	const __u64 *word = (const __u64 *)key;
	__u64 mix = word[0] ^ word[1] ^ (word[2] << 7 | word[2] >> 57) ^
		    (word[3] << 15 | word[3] >> 49) ^ (word[4] << 31 | word[4] >> 33);

	return mix * 0x9e3779b97f4a7c15ull;
}

static __always_inline __u32 *quiet_epoch(const struct flow_key *key, __u64 hash)
{
	__u32 zero = 0;
	struct epochs *e = bpf_map_lookup_elem(&epochs, &zero);

	return e ? &e->epoch[hash >> 40 & (QUIET_EPOCHS - 1)] : NULL;
}

/* Ask before the flow is looked up: the epoch has to be older than what is found. */
static __always_inline struct quiet_look quiet_look(struct scratch *s, const struct flow_key *key)
{
	__u64 hash = quiet_hash(key);
	const volatile __u32 *epoch = quiet_epoch(key, hash);

	return (struct quiet_look){.place = epoch ? &s->quiet[hash >> 50 & (QUIET_MAX - 1)] : NULL,
				   .epoch = epoch ? *epoch : 0};
}

/* Is this the tuple of an untouched flow? */
static __always_inline int quiet_is(const struct quiet_look *look, const struct flow_key *key)
{
	const __u64 *word = (const __u64 *)key, *known;

	if (!look->place || look->place->epoch != look->epoch)
		return 0;
	known = (const __u64 *)&look->place->key;
	return known[4] == word[4] && known[1] == word[1] && known[3] == word[3] &&
	       known[0] == word[0] && known[2] == word[2];
}

/* Remember the tuple of a flow that will never be touched, found after `look`. */
static __always_inline void quiet_note(const struct quiet_look *look, const struct flow_key *key)
{
	if (!look->place)
		return;
	look->place->key = *key;
	look->place->epoch = look->epoch;
}

/* A flow was made: whatever is remembered about its tuple is about an older one. */
static __always_inline void quiet_end(const struct flow_key *key)
{
	__u32 *epoch = quiet_epoch(key, quiet_hash(key));

	if (epoch)
		__sync_fetch_and_add(epoch, 1);
}

#endif
