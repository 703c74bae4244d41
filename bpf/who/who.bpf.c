// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is at work in a process, and on which request: its threads, whatever they do, and tasks,
 * goroutines and the like that wait. Loaded while somebody asks, and then only.
 */
#include "who/apart.bpf.h"
#include "probes/ask.bpf.h"
#include "runtimes/parts.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct task_struct___state {
	unsigned int __state; /* 0: it runs, or could */
};

#pragma clang attribute pop

/* The process that is asked about. */
__u32 wanted_tgid;

/* Not on the stack: what is asked needs most of that. */
static struct work_asked work;
struct who_told told;

/* The answer about `work.by`. */
static __always_inline void tell(__u32 tid, int waits)
{
	told.key = work.by.key;
	told.shown = work.told.request ? work.told.shown : (struct traces_ctx){};
	told.tid = tid;
	told.evidence = work.told.evidence;
	told.veto = work.told.veto;
	told.what = hook_part(&work.by.key);
	told.waits = waits;
}

static __always_inline void ask_about(struct task_struct *task)
{
	const void *regs = (const void *)bpf_task_pt_regs(task);

	asked.id = (__u64)task->tgid << 32 | (__u32)task->pid;
	asked.task = (__u64)task;
	asked.switches = (__u32)task->nvcsw;
	asked.stack = syscall_stack_in(regs);
	asked.argument = syscall_argument_in(regs);
}

SEC("iter/task")
int who_thread(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task || (__u32)task->tgid != wanted_tgid)
		return 0;
	ask_about(task);
	work_ask(&work);
	tell(task->pid, BPF_CORE_READ((struct task_struct___state *)task, __state) != 0);
	bpf_seq_write(ctx->meta->seq, &told, sizeof(told));
	return 0;
}

/* Ask about `told.key`, which is no thread. */
SEC("syscall")
int who_part(void *ctx)
{
	struct worker_key key = told.key;
	const struct runtime *runtime = runtime_lookup(key.tgid);

	asked.id = (__u64)key.tgid << 32;
	asked.task = asked.stack = asked.argument = 0;
	asked.switches = NO_SWITCHES;
	work.told = (struct work_told){};
	work.by = (struct actor){.key = key, .kind = ACTOR_RUNTIME};
	if (runtime) {
		work.by.by = hook_evidence(runtime, &work.by);
		actor_named(&work.by, hook_part_works_on(runtime, &key));
	}
	work_decide(&work);
	tell(0, 1);
	return 0;
}
