/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Open requests by the x-request-id that they brought. A program that puts it into its calls says
 * itself which of them is the cause: only its call's head, a packet, shows that, so this comes
 * after the engine has decided, and adds to its verdict or contradicts it.
 *
 * Packets end requests at any time on any CPU. So no entry is ever removed while somebody else may
 * be about to use it: a number has its set of slots for good, and what takes or leaves a slot is
 * one change of one word. As long as a request is listed its number names this request or nothing.
 */
#ifndef CTXPROP_ENGINE_IDS_H
#define CTXPROP_ENGINE_IDS_H

#include <linux/types.h>

#define ID_SET_BITS   12 /* log2 of the sets that there are */
#define ID_SLOTS      4
#define ID_NO_SLOT    ID_SLOTS /* in place of a slot: there was none */
#define ID_COUNT_BITS 24
#define ID_COUNT      ((1U << ID_COUNT_BITS) - 1)
#define ID_TRIES      4 /* to take a slot, while others change it */

/* The requests of one process with one number. */
struct id_slot {
	__u64 word; /* id_tag(), and in the low bits how many there are; 0: the slot is free */
	__u64 all;  /* exclusive or of them; changes after they are counted, and back before */
};

/* Map `request_ids`, an array. */
struct id_set {
	struct id_slot slot[ID_SLOTS];
	__u64 no_slot; /* requests that found no slot: as long as there are any nothing is told */
};

/*
 * Who has brought an id, also once that request is over: map `id_claims`, an array. The upper half
 * of a word tells the ids of its place apart, the lower one has the address, and ID_CONTESTED. An
 * id of another hash takes the place.
 */
#define ID_CLAIM_BITS 16   /* log2 of the places that there are */
#define ID_CONTESTED  1ULL /* several addresses have brought it */
#define ID_CLAIM_OF   0xffffffff00000000ULL

/* Of a number (request_id_number()) that requests have which a process has read. */
static __always_inline __u64 id_hash(__u32 tgid, __u64 number)
{
	__u64 hash = (number ^ tgid) * 0x9e3779b97f4a7c15;

	return (hash ^ hash >> 32) * 0xd6e8feb86659fd93;
}

static __always_inline __u32 id_set_index(__u64 hash)
{
	return hash >> (64 - ID_SET_BITS);
}

static __always_inline __u32 id_claim_index(__u64 hash)
{
	return hash & ((1U << ID_CLAIM_BITS) - 1);
}

static __always_inline int id_claim_is_of(__u64 claim, __u64 hash)
{
	return claim && !((claim ^ hash) & ID_CLAIM_OF);
}

/* A request from an address (a number for it) has brought the id. Who is interrupted is not sure.
 */
static __always_inline void id_claim(__u64 *claim, __u64 hash, __u32 from)
{
	__u64 old = *(const volatile __u64 *)claim;
	__u64 new = (hash & ID_CLAIM_OF) | (from | 1) << 1;

	if (id_claim_is_of(old, hash)) {
		if ((old | ID_CONTESTED) == (new | ID_CONTESTED))
			return;
		new |= ID_CONTESTED;
	}
	if (__sync_val_compare_and_swap(claim, old, new) != old)
		__sync_lock_test_and_set(claim, new | ID_CONTESTED);
}

/* Tells the numbers of a set apart. */
static __always_inline __u64 id_tag(__u64 hash)
{
	return hash << ID_COUNT_BITS;
}

static __always_inline __u64 id_slot_word(const struct id_slot *slot)
{
	return *(const volatile __u64 *)&slot->word;
}

static __always_inline int id_slot_is_of(__u64 word, __u64 tag)
{
	return word && (word & ~(__u64)ID_COUNT) == tag;
}

/* Count one more in a slot whose word was `old`. Returns whether it still was. */
static __always_inline int id_slot_take(struct id_slot *slot, __u64 old, __u64 tag, __u64 id)
{
	if (__sync_val_compare_and_swap(&slot->word, old, (old ? old : tag) + 1) != old)
		return 0;
	__sync_fetch_and_xor(&slot->all, id);
	return 1;
}

/* Slots of the tag go first, then free ones. Returns which it is, or ID_NO_SLOT. */
static __always_inline __u32 id_set_try(struct id_set *set, __u64 tag, __u64 id)
{
	for (int i = 0; i < ID_SLOTS; i++) {
		__u64 word = id_slot_word(&set->slot[i]);

		if (id_slot_is_of(word, tag) && id_slot_take(&set->slot[i], word, tag, id))
			return i;
	}
	for (int i = 0; i < ID_SLOTS; i++)
		if (!id_slot_word(&set->slot[i]) && id_slot_take(&set->slot[i], 0, tag, id))
			return i;
	return ID_NO_SLOT;
}

/* List a request. Returns where: what id_set_remove() wants to know. */
static __always_inline __u32 id_set_add(struct id_set *set, __u64 tag, __u64 id)
{
	for (int i = 0; i < ID_TRIES; i++) {
		__u32 slot = id_set_try(set, tag, id);

		if (slot != ID_NO_SLOT)
			return slot;
	}
	__sync_fetch_and_add(&set->no_slot, 1);
	return ID_NO_SLOT;
}

static __always_inline void id_slot_leave(struct id_slot *slot, __u64 tag, __u64 id)
{
	__u64 word = id_slot_word(slot);

	if (!id_slot_is_of(word, tag) || !(word & ID_COUNT))
		return;
	__sync_fetch_and_xor(&slot->all, id);
	if (__sync_fetch_and_sub(&slot->word, 1) == tag + 1)
		__sync_val_compare_and_swap(&slot->word, tag, 0);
}

static __always_inline void id_set_remove(struct id_set *set, __u64 tag, __u32 where, __u64 id)
{
	if (where >= ID_SLOTS) {
		__sync_fetch_and_sub(&set->no_slot, 1);
		return;
	}
	/* As index_within() (compat.bpf.h): verifiers believe the mask, in the register used. */
	__asm__ volatile("" : "+r"(where));
	where &= ID_SLOTS - 1;
	__asm__ volatile("" : "+r"(where));
	id_slot_leave(&set->slot[where], tag, id);
}

/*
 * The only request that is listed with the tag; 0: there are none, or several. (While others come
 * and go it may be a number that is no request's.)
 */
static __always_inline __u64 id_set_only(const struct id_set *set, __u64 tag)
{
	__u64 all = 0;
	__u32 count = 0;

	for (int i = 0; i < ID_SLOTS; i++) {
		__u64 word = id_slot_word(&set->slot[i]);

		if (!id_slot_is_of(word, tag))
			continue;
		count += word & ID_COUNT;
		all ^= *(const volatile __u64 *)&set->slot[i].all;
	}
	return count == 1 && !*(const volatile __u64 *)&set->no_slot ? all : 0;
}

/* Is any request listed with the tag? */
static __always_inline int id_set_has(const struct id_set *set, __u64 tag)
{
	for (int i = 0; i < ID_SLOTS; i++)
		if (id_slot_is_of(id_slot_word(&set->slot[i]), tag))
			return 1;
	return !!*(const volatile __u64 *)&set->no_slot;
}

#endif
