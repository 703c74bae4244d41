// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sampler: which thread a CPU runs, which request that thread works on, and its stack. It runs
 * in the interrupt of a software clock, which may come while any other program runs, so it writes
 * no memory that those use. (The programs of offcpu.bpf.h run with interrupts off.)
 */
#define ENGINE_ASKS
#include <linux/bpf_perf_event.h>

#include "profile/offcpu.bpf.h"
#include "profile/take.bpf.h"

#define RPL_USER 3 /* of the code segment: x86-64 runs user space */

static __always_inline void take_stack(struct bpf_perf_event_data *ctx, struct profile_sample *s)
{
	struct user_registers user = {ctx->regs.rip, ctx->regs.rsp, ctx->regs.rbp};

	if ((ctx->regs.cs & RPL_USER) != RPL_USER) {
		take_kernel(ctx, s);
		registers_of_kernel(&user);
	}
	take_user(s, &user);
}

/* Take a sample of the current thread. `told`: what the engine says of it. */
static __noinline int take_sample(struct bpf_perf_event_data *ctx, const struct work_told *told)
{
	__u64 thread = bpf_get_current_pid_tgid();
	const struct profile_thread_data *data;
	struct profile_sample *s;

	s = begin_record(PROFILE_ON_CPU, thread, bpf_ktime_get_boot_ns());
	if (!s)
		return 0;
	data = context_data(s);
	context_take(s, data, told);
	if (wants_requests && !s->context_source)
		return 0;
	take_stack(ctx, s);
	context_labels(s, data);
	hand_over(s);
	return 0;
}

SEC("perf_event")
int profile_sample(struct bpf_perf_event_data *ctx)
{
	const struct work_told *told;

	if (bpf_ktime_get_boot_ns() >= until_ns || !is_wanted(bpf_get_current_pid_tgid()))
		return 0;
	told = take_told();
	if (told)
		take_sample(ctx, told);
	return 0;
}

char _license[] SEC("license") = "GPL";
