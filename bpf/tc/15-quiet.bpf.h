/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Beside stage 2: flows of which enough is known without a look at them. What is not HTTP should
 * cost next to nothing, and most of what it costs is the search of the flow table.
 *
 * Each CPU remembers a few tuples, of flows that are left alone or are settled (in-05-settled), and
 * at which epoch the table was when it looked. A new epoch begins for the tuples that share a hash
 * with every flow that is made or deleted, and every settled one that gets an edit. So what is
 * remembered never outlives what it is about.
 */
#ifndef CTXPROP_TC_QUIET_BPF_H
#define CTXPROP_TC_QUIET_BPF_H

#include "10-packet.bpf.h"

#define QUIET_EPOCHS 1024 /* a power of two */

struct epochs {
	__u32 epoch[QUIET_EPOCHS];
	__u8 reset[QUIET_EPOCHS]; /* 1: a flow of this hash was closed by a RST */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct epochs);
} epochs __weak SEC(".maps");

/* The upper bits are well mixed; tuples of one hash only share a place. */
static __always_inline __u64 quiet_hash(const struct flow_key *key)
{
	const __u64 *word = (const __u64 *)key;

	return (word[4] ^ word[1] ^ (word[3] << 15 | word[3] >> 49)) * 0x9e3779b97f4a7c15ull;
}

static __always_inline __u32 *quiet_epoch(__u64 hash)
{
	__u32 zero = 0;
	struct epochs *e = bpf_map_lookup_elem(&epochs, &zero);

	return e ? &e->epoch[hash >> 40 & (QUIET_EPOCHS - 1)] : NULL;
}

/* Was a flow closed by a RST whose tuple has this hash? */
static __always_inline __u8 *quiet_reset(const struct flow_key *key)
{
	__u32 zero = 0;
	struct epochs *e = bpf_map_lookup_elem(&epochs, &zero);

	return e ? &e->reset[quiet_hash(key) >> 40 & (QUIET_EPOCHS - 1)] : NULL;
}

/* What this CPU has at the place of a tuple. */
static __always_inline struct quiet *quiet_place(struct scratch *s, __u64 hash)
{
	return &s->quiet[hash >> 50 & (QUIET_MAX - 1)];
}

/* What is known of a tuple; NULL: nothing. The ports tell most others apart. */
static __always_inline struct quiet *quiet_find(struct scratch *s, const struct flow_key *key)
{
	__u64 hash = quiet_hash(key);
	struct quiet *place = quiet_place(s, hash);
	const __u64 *word = (const __u64 *)key, *known = (const __u64 *)&place->key;
	const volatile __u32 *epoch;

	if (known[4] != word[4] || known[1] != word[1] || known[3] != word[3] ||
	    known[0] != word[0] || known[2] != word[2])
		return NULL;
	epoch = quiet_epoch(hash);
	return epoch && *epoch == place->epoch ? place : NULL;
}

/* Is it that the flow is left alone? */
static __always_inline int quiet_untouched(const struct quiet *known)
{
	return known && known->kind == QUIET_UNTOUCHED;
}

/* The epoch of a tuple, for quiet_note(). */
static __always_inline __u32 quiet_now(const struct flow_key *key)
{
	const volatile __u32 *epoch = quiet_epoch(quiet_hash(key));

	return epoch ? *epoch : 0;
}

/* Remember something of the tuple of a flow, which was found after `epoch` was asked. Returns it.
 */
static __always_inline struct quiet *quiet_note(struct scratch *s, const struct flow_key *key,
						__u32 epoch, enum quiet_kind kind)
{
	struct quiet *place = quiet_place(s, quiet_hash(key));

	place->key = *key;
	place->epoch = epoch;
	place->kind = kind;
	return place;
}

/* Whatever is remembered about the tuple holds no longer. */
static __always_inline void quiet_end(const struct flow_key *key)
{
	__u32 *epoch = quiet_epoch(quiet_hash(key));

	if (epoch)
		__sync_fetch_and_add(epoch, 1);
}

#endif
