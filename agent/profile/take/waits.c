// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "base/unique.h"
#include "profile/take/waits.h"

struct wait {
	__u64 began_ns;
	struct stack *stack; /* NULL: the thread does not wait */
	__u32 tid;
};

struct waits {
	struct unique threads; /* struct wait, by thread id */
};

static bool has_tid(const void *item, const void *tid)
{
	return ((const struct wait *)item)->tid == *(const __u32 *)tid;
}

struct waits *waits_new(void)
{
	struct waits *waits = calloc(1, sizeof(*waits));

	if (waits)
		waits->threads.same = has_tid;
	return waits;
}

void waits_free(struct waits *waits)
{
	if (!waits)
		return;
	unique_free_all(&waits->threads);
	free(waits);
}

static struct wait *add(struct waits *waits, __u32 tid)
{
	struct wait *wait = calloc(1, sizeof(*wait));

	if (!wait || unique_append(&waits->threads, tid, wait) < 0) {
		free(wait);
		return NULL;
	}
	wait->tid = tid;
	return wait;
}

int waits_begin(struct waits *waits, const struct profile_sample *sample, struct stack *stack)
{
	struct wait *wait = unique_find(&waits->threads, sample->tid, &sample->tid);

	if (!wait)
		wait = add(waits, sample->tid);
	if (!wait)
		return -ENOMEM;
	wait->began_ns = sample->time_ns;
	wait->stack = stack;
	return 0;
}

struct stack *waits_end(struct waits *waits, const struct profile_sample *sample)
{
	struct wait *wait = unique_find(&waits->threads, sample->tid, &sample->tid);
	struct stack *stack;

	if (!wait || wait->began_ns != sample->time_ns)
		return NULL;
	stack = wait->stack;
	wait->stack = NULL;
	return stack;
}
