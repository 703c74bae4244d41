/* SPDX-License-Identifier: Apache-2.0 */
/* Which losses are to be told of, and when: each reason once a minute at most. Pure. */
#ifndef CTXPROP_OTLP_LOSSES_H
#define CTXPROP_OTLP_LOSSES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define LOSSES_MAX       32 /* reasons */
#define LOSSES_NAME_MAX  32
#define LOSSES_PERIOD_NS 60000000000ULL

struct loss {
	char reason[LOSSES_NAME_MAX];
	unsigned long count, told; /* until now, and those that were told of */
	__u64 tell_at_ns;          /* not before that */
};

/* All zero: nothing is known. */
struct losses {
	struct loss loss[LOSSES_MAX];
	size_t count;
};

/* So many there are by now. What there was when a reason is noted first is not told of. */
void losses_note(struct losses *losses, const char *reason, unsigned long count);

/* The losses that are to be told of now. Returns how many; they point into `losses`. */
size_t losses_due(struct losses *losses, __u64 now_ns, struct loss *ret_due[LOSSES_MAX]);

/* A try to tell of it was made. Of what did not arrive the next one tells, too. */
void losses_tried(struct loss *loss, __u64 now_ns, bool arrived);

#endif
