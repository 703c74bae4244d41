/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From registers to a user stack: each frame's code is looked up in the process's mappings, then in
 * the unwind table of its file (sample.h). x86-64.
 */
#ifndef CTXPROP_PROFILE_UNWIND_BPF_H
#define CTXPROP_PROFILE_UNWIND_BPF_H

#include "profile/frame.bpf.h"
#include "runtimes/sample.bpf.h"

#define ROWS_STEPS     23 /* halvings: 2^22 rows of one table at most */
#define MAPPINGS_STEPS 8  /* 2^7 mappings */

/* All tables, one behind the other, and their indexes. User space says how much there may be. */
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
unwind_mapping(const struct profile_process *process, __u64 pc)
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

/* The rows of which the first one that is behind an address is to be looked for. */
static __always_inline struct profile_page unwind_range(const struct profile_table *table, __u32 pc)
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
VERIFIED_ALONE __u32 unwind_row(__u32 low, __u32 high, __u32 pc)
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
static __always_inline const struct profile_row *unwind_rule(const struct profile_table *table,
							     __u32 pc)
{
	const struct profile_page range = unwind_range(table, pc);
	const struct profile_row *row;
	__u32 number = unwind_row(range.low, range.high, pc);

	if (number <= table->first) /* what comes before the first row has no rule */
		return NULL;
	number--;
	row = bpf_map_lookup_elem(&profile_rows, &number);
	return row && row->cfa != PROFILE_CFA_UNKNOWN ? row : NULL;
}

/* Where a signal interrupted: struct rt_sigframe behind its return address (Linux, x86-64). */
static __always_inline __u32 unwind_signal(struct unwind *u)
{
	const __u64 saved = u->sp + 40; /* uc_mcontext of struct ucontext */
	__u64 sp;

	if (unwind_read(saved + 10 * 8, &u->bp) || unwind_read(saved + 15 * 8, &sp) ||
	    unwind_read(saved + 16 * 8, &u->pc))
		return PROFILE_STOP_READ;
	u->sp = sp; /* an alternate stack may lie anywhere */
	u->exact = 1;
	return u->pc ? 0 : PROFILE_STOP_READ;
}

/* 0: it cannot be read. */
static __always_inline __u64 unwind_cfa(const struct unwind *u, const struct profile_row *row)
{
	__u64 offset = 8ULL * row->offset, saved;

	if (row->cfa == PROFILE_CFA_LOAD)
		return unwind_read(u->sp + offset, &saved) ? 0 : saved + 8;
	if (row->cfa == PROFILE_CFA_BP)
		return u->bp + offset;
	if (row->cfa == PROFILE_CFA_PLT && (u->pc & 15) >= row->rbp)
		offset += 8;
	return u->sp + offset;
}

/* The caller by a rule of its table. As unwind_by_pointer(). */
static __always_inline __u32 unwind_by_row(struct unwind *u, const struct profile_row *row)
{
	__u64 cfa;

	if (row->cfa == PROFILE_CFA_END)
		return PROFILE_STOP_END;
	if (row->cfa == PROFILE_CFA_SIGNAL)
		return unwind_signal(u);
	cfa = unwind_cfa(u, row);
	if (cfa <= u->sp)
		return PROFILE_STOP_READ;
	if (row->cfa != PROFILE_CFA_PLT && row->rbp && unwind_read(cfa - 8ULL * row->rbp, &u->bp))
		return PROFILE_STOP_READ;
	if (unwind_read(cfa - 8, &u->pc))
		return PROFILE_STOP_READ;
	u->sp = cfa;
	return u->pc ? 0 : PROFILE_STOP_END;
}

/* The mapping and the rule for the code at u->pc. */
static __always_inline void unwind_look_up(struct unwind *u)
{
	__u64 pc = u->exact ? u->pc : u->pc - 1;
	const struct profile_mapping *mapping = unwind_mapping(u->process, pc);

	u->mapping = mapping;
	u->row = mapping && !mapping->frame_pointers
		     ? unwind_rule(&mapping->table, (__u32)(pc - mapping->bias))
		     : NULL;
}

static __always_inline __u32 unwind_caller(struct unwind *u)
{
	u->exact = 0;
	if (!u->mapping)
		return PROFILE_STOP_MAPPING;
	if (u->mapping->frame_pointers)
		return unwind_by_pointer(u);
	if (!u->mapping->table.count)
		return PROFILE_STOP_TABLE;
	return u->row ? unwind_by_row(u, u->row) : PROFILE_STOP_ROW;
}

/* One frame, as a callback of bpf_loop(). */
static long unwind_step(__u32 i, struct unwind *u)
{
	unwind_look_up(u);
	if (u->runtime && runtime_unwind(u))
		return u->stop != 0;
	frame_add(u->sample, u->exact ? u->pc : u->pc - 1);
	u->stop = unwind_caller(u);
	return u->stop != 0;
}

/*
 * Fill in the user stack that begins with these registers. `runtime`: what is known of the runtime
 * of the process, or NULL.
 */
static __always_inline void unwind_user(struct profile_sample *sample,
					const struct runtime *runtime, __u64 pc, __u64 sp, __u64 bp)
{
	struct unwind u = {.pc = pc, .sp = sp, .bp = bp, .sample = sample, .exact = 1};

	u.process = bpf_map_lookup_elem(&profile_processes, &sample->tgid);
	if (!u.process || u.process->life != sample->life) {
		sample->stop = PROFILE_STOP_PROCESS;
		return;
	}
	unwind_forget_words();
	u.runtime = runtime && runtime_compiles(runtime) ? runtime : NULL;
	bpf_loop(PROFILE_FRAMES_MAX, unwind_step, &u, 0);
	sample->stop = u.stop ? u.stop : PROFILE_STOP_DEEP;
}

#endif
