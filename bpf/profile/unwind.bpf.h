/* SPDX-License-Identifier: GPL-2.0-only */
/* Unwinding a user stack, from frame to caller, by the rules for their code. x86-64. */
#ifndef CTXPROP_PROFILE_UNWIND_BPF_H
#define CTXPROP_PROFILE_UNWIND_BPF_H

#include "profile/rules.bpf.h"
#include "runtimes/sample.bpf.h"

/* The frame that a signal interrupted: struct rt_sigframe follows the return address (x86-64). */
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

/* The caller by a row of an unwind table. Returns as unwind_by_pointer(). */
static __always_inline __u32 unwind_by_row(struct unwind *u, const struct profile_row *row)
{
	__u64 cfa;

	if (row->cfa == PROFILE_CFA_END)
		return PROFILE_STOP_END;
	if (row->cfa == PROFILE_CFA_SIGNAL)
		return unwind_signal(u);
	if (row->cfa == PROFILE_CFA_POINTER)
		return unwind_by_pointer(u);
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

static __always_inline __u32 unwind_caller(struct unwind *u)
{
	u->exact = 0;
	if (u->row)
		return unwind_by_row(u, u->row);
	if (!u->mapping)
		return PROFILE_STOP_MAPPING;
	return u->mapping->table.count ? PROFILE_STOP_ROW : PROFILE_STOP_TABLE;
}

/* Unwind one frame; a callback of bpf_loop(). */
static long unwind_step(__u32 i, struct unwind *u)
{
	rule_look_up(u);
	if (u->runtime && hook_unwind(u))
		return u->stop != 0;
	frame_add(u->sample, u->exact ? u->pc : u->pc - 1);
	u->stop = unwind_caller(u);
	if (!u->stop && u->sp > u->end)
		u->stop = PROFILE_STOP_END;
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
	u.end = hook_stack_end(runtime);
	if (sp > u.end) {
		frame_add(sample, pc);
		sample->stop = PROFILE_STOP_SWITCH;
		return;
	}
	u.edition = u.process->edition;
	unwind_forget_words();
	u.runtime = runtime && runtime_compiles(runtime->kind) ? runtime : NULL;
	bpf_loop(PROFILE_FRAMES_MAX, unwind_step, &u, 0);
	sample->stop = u.stop ? u.stop : PROFILE_STOP_DEEP;
	if (u.process->edition != u.edition) { /* user space has written it again meanwhile */
		sample->user_count = 0;
		sample->stop = PROFILE_STOP_PROCESS;
	}
}

#endif
