/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finding the unwinding rule for some code: its address is looked up in the process's mappings,
 * then in the unwind table of the file (sample.h). Each CPU caches the rules that it has found
 * lately.
 */
#ifndef CTXPROP_PROFILE_RULES_BPF_H
#define CTXPROP_PROFILE_RULES_BPF_H

#include "profile/frame.bpf.h"

#define ROWS_STEPS     23 /* halvings: 2^22 rows of one table at most */
#define MAPPINGS_STEPS 8  /* 2^7 mappings */

/* All tables, one behind the other, and their indexes. User space sets their sizes. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct profile_row);
} profile_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct profile_page);
} profile_pages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROFILE_PROCESSES);
	__type(key, __u32); /* tgid */
	__type(value, struct profile_process);
} profile_processes SEC(".maps");

/* The mapping that has this address. NULL: none. */
static __always_inline const struct profile_mapping *
rule_mapping(const struct profile_process *process, __u64 pc)
{
	const struct profile_mapping *mapping;
	__u32 low = 0, high = process->count;

	for (int i = 0; i < MAPPINGS_STEPS && low < high; i++) {
		__u32 middle = (low + high) / 2;

		if (middle >= PROFILE_MAPPINGS_MAX)
			return NULL;
		mapping = &process->mapping[middle];
		if (pc < mapping->start)
			high = middle;
		else if (pc >= mapping->end)
			low = middle + 1;
		else
			return mapping;
	}
	return NULL;
}

/* A binary search for the first row behind an address. */
static __always_inline struct profile_page rule_range(const struct profile_table *table, __u32 pc)
{
	const __u32 number = pc >> PROFILE_PAGE_SHIFT;
	const struct profile_page *page;
	__u32 entry = table->page + number;

	page = number < table->pages ? bpf_map_lookup_elem(&profile_pages, &entry) : NULL;
	if (page)
		return *page;
	return (struct profile_page){table->first, table->first + table->count};
}

/* The number of the first row from `low` to before `high` that is behind an address; or `high`. */
VERIFIED_ALONE __u32 rule_row(__u32 low, __u32 high, __u32 pc)
{
	const struct profile_row *row;

	for (int i = 0; i < ROWS_STEPS && low < high; i++) {
		__u32 middle = low + (high - low) / 2;

		row = bpf_map_lookup_elem(&profile_rows, &middle);
		if (!row)
			return ~0U;
		if (row->pc <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The rule for an address of a table. NULL: there is none. */
static __always_inline const struct profile_row *rule_of_table(const struct profile_table *table,
							       __u32 pc)
{
	const struct profile_page range = rule_range(table, pc);
	const struct profile_row *row;
	__u32 number = rule_row(range.low, range.high, pc);

	if (number <= table->first) /* what comes before the first row has no rule */
		return NULL;
	number--;
	row = bpf_map_lookup_elem(&profile_rows, &number);
	return row && row->cfa != PROFILE_CFA_UNKNOWN ? row : NULL;
}

/*
 * A rule that was found, and the address that it is for. A sample finds the CPU's caches filled
 * with the data of other programs, so each cache line counts: a search touches about eight, this is
 * half of one.
 */
struct known_rule {
	__u64 pc;
	__u64 edition; /* of the process; 0: nothing is here */
	struct profile_row row;
	__u64 padding;
};

#define KNOWN_RULES_BITS 9
#define KNOWN_RULES      (1U << KNOWN_RULES_BITS)

/* By a hash of pc and edition; used with interrupts off, as profile_scratch is. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KNOWN_RULES);
	__type(key, __u32);
	__type(value, struct known_rule);
} profile_known_rules SEC(".maps");

/* The cache entry for this address of the process. NULL: there is no cache. */
static __always_inline struct known_rule *known_rule_place(const struct unwind *u, __u64 pc)
{
	const __u64 hash = (pc + u->edition * 0xc2b2ae3d27d4eb4fULL) * 0x9e3779b97f4a7c15ULL;
	__u32 place = hash >> (64 - KNOWN_RULES_BITS);

	return bpf_map_lookup_elem(&profile_known_rules, &place);
}

/* Search for the rule. Returns 0, or -1: there is none. u->mapping is set in any case. */
static __always_inline int rule_search(struct unwind *u, __u64 pc, struct profile_row *ret)
{
	const struct profile_mapping *mapping = rule_mapping(u->process, pc);
	const struct profile_row *row;

	u->mapping = mapping;
	if (!mapping)
		return -1;
	if (mapping->frame_pointers) {
		*ret = (struct profile_row){.cfa = PROFILE_CFA_POINTER};
		return 0;
	}
	row = rule_of_table(&mapping->table, (__u32)(pc - mapping->bias));
	if (!row)
		return -1;
	*ret = *row;
	return 0;
}

/* Set u->row to the rule for the code at u->pc, or, if there is none, u->mapping to its mapping. */
static __always_inline void rule_look_up(struct unwind *u)
{
	const __u64 pc = u->exact ? u->pc : u->pc - 1;
	struct known_rule *known = known_rule_place(u, pc);

	u->row = NULL;
	u->mapping = NULL;
	if (!known)
		return;
	if (known->pc != pc || known->edition != u->edition) {
		known->edition = 0;
		if (rule_search(u, pc, &known->row))
			return;
		known->pc = pc;
		known->edition = u->edition;
	}
	u->row = &known->row;
}

#endif
