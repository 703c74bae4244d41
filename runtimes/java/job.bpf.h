/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The job of a CompletableFuture (runAsync(), supplyAsync()) that the current thread of Java is at
 * work on. The future does not say who is, and may be left over on a stack. But it is made together
 * with the job that completes it, in front of that; one thread begins the job, and takes the future
 * out of it; and where the job ends it is completed. So who has both on its stack, the job begun,
 * and the future not completed, is at work on it. (Objects that were moved are not found.) Not so
 * in virtual threads: what one leaves on a stack when it waits is met by the next one there.
 */
#ifndef CTXPROP_RUNTIMES_JAVA_JOB_BPF_H
#define CTXPROP_RUNTIMES_JAVA_JOB_BPF_H

#include "runtimes/java/stack.bpf.h"

/* A search on the current stack, from its beginning on. */
struct java_job {
	const struct runtime_java *java;
	__u64 at, end; /* as in struct java_stack */
	__u64 future;  /* of a job that was begun, and is waited for; 0: none yet */
	__u32 several; /* 1: there is another one */
	__u32 found;   /* 1: the future is there, too */
};

/* The Signaller of who waits for a CompletableFuture that is not completed; 0: nobody does. */
static __always_inline __u64 java_completable_waiter(const struct runtime_java *java, __u64 future)
{
	__u64 first = java_refers(java, future, java->client.stack);

	if (!first || java_class(java, first) != java->client.signaller_class ||
	    user_read_narrow(future + java->result))
		return 0;
	return first;
}

/* Is it a job of a CompletableFuture? */
static __always_inline int java_is_job(const struct runtime_java *java, __u64 object)
{
	__u32 class = java_class(java, object);

	return class && (class == java->run_class || class == java->supply_class);
}

static __always_inline void java_job_word(struct java_job *job, __u64 word)
{
	const struct runtime_java *java = job->java;
	__u64 future = word - java->completable_size;

	if (!java_may_be_object(java, word) || !java_is_job(java, word))
		return;
	if (user_read_narrow(word + java->job_future) || !java_completable_waiter(java, future))
		return;
	job->several |= job->future && job->future != future;
	job->future = future;
}

/* As a callback of bpf_loop(). */
static long java_job_chunk(__u32 index, struct java_job *job)
{
	__u64 words[USER_CHUNK];

	if (job->at < job->end + sizeof(words) || !user_chunk_before(&job->at, words))
		return 1;
	for (int i = 0; i < USER_CHUNK; i++)
		java_job_word(job, words[i]);
	return 0;
}

/* As a callback of bpf_loop(): is the future there? */
static long java_job_future(__u32 index, struct java_job *job)
{
	__u64 words[USER_CHUNK];

	if (job->at < job->end + sizeof(words) || !user_chunk_before(&job->at, words))
		return 1;
	for (int i = 0; i < USER_CHUNK; i++)
		job->found |= words[i] == job->future;
	return 0;
}

/* The Signaller of who waits for the job that the current thread is at, if it is at no future. */
VERIFIED_ALONE int java_job_waiter(struct java_futures *ret_futures)
{
	const struct runtime *runtime;
	struct java_job job = {};
	__u64 thread, base;

	if (!ret_futures || ret_futures->count)
		return 0;
	runtime = runtime_lookup(ret_futures->tgid);
	if (!runtime || !(runtime->java.run_class | runtime->java.supply_class))
		return 0;
	job.java = &runtime->java;
	thread = java_thread_of(job.java, user_thread_pointer());
	if (java_virtual_object(job.java, thread))
		return 0;
	base = user_read(thread + job.java->stack);
	job.at = base;
	job.end = syscall_stack(bpf_get_current_task_btf());
	bpf_loop(JAVA_STACK_MAX / USER_CHUNK, java_job_chunk, &job, 0);
	if (!job.future || job.several)
		return 0;
	job.at = base;
	bpf_loop(JAVA_STACK_MAX / USER_CHUNK, java_job_future, &job, 0);
	ret_futures->future[0] = job.found ? java_completable_waiter(job.java, job.future) : 0;
	ret_futures->count = ret_futures->future[0] != 0;
	ret_futures->wanted = JAVA_FUTURES_NONE;
	return 0;
}

#endif
