// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "profile/take/waits.h"

#define BUCKETS 4096 /* by thread id; these are given one after the other */

struct wait {
	struct wait *next;
	__u64 began_ns;
	struct stack *stack; /* NULL: the thread does not wait */
	__u32 tid;
};

struct waits {
	struct wait *bucket[BUCKETS];
};

struct waits *waits_new(void)
{
	return calloc(1, sizeof(struct waits));
}

void waits_free(struct waits *waits)
{
	struct wait *next;

	for (size_t i = 0; waits && i < BUCKETS; i++) {
		for (struct wait *wait = waits->bucket[i]; wait; wait = next) {
			next = wait->next;
			free(wait);
		}
	}
	free(waits);
}

static struct wait *find(const struct waits *waits, __u32 tid)
{
	struct wait *wait = waits->bucket[tid % BUCKETS];

	while (wait && wait->tid != tid)
		wait = wait->next;
	return wait;
}

static struct wait *add(struct waits *waits, __u32 tid)
{
	struct wait **bucket = &waits->bucket[tid % BUCKETS], *wait = calloc(1, sizeof(*wait));

	if (!wait)
		return NULL;
	wait->tid = tid;
	wait->next = *bucket;
	*bucket = wait;
	return wait;
}

int waits_begin(struct waits *waits, const struct profile_sample *sample, struct stack *stack)
{
	struct wait *wait = find(waits, sample->tid);

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
	struct wait *wait = find(waits, sample->tid);
	struct stack *stack;

	if (!wait || wait->began_ns != sample->time_ns)
		return NULL;
	stack = wait->stack;
	wait->stack = NULL;
	return stack;
}
