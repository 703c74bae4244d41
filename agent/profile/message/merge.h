/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of several times as one: texts, mappings, functions, locations and samples are there
 * once, and samples of the same frames with the same labels are added up. Types of values are
 * united; a sample has 0 of those that its message did not have. The time is the earliest one, the
 * duration the sum, the period the longest one (values that are times stay right). Counts of
 * requests (counts.h) are added up; other comments are there once.
 */
#ifndef CTXPROP_PROFILE_MESSAGE_MERGE_H
#define CTXPROP_PROFILE_MESSAGE_MERGE_H

#include "profile/message/message.h"

struct message_merger;

/* NULL: no memory. */
struct message_merger *message_merger_new(void);
void message_merger_free(struct message_merger *merger);

/*
 * Add a message, which need not outlive this. 0; -EOVERFLOW: values would be too large together,
 * nothing was added; -ENOMEM: the merger is of no more use.
 */
int message_merger_add(struct message_merger *merger, const struct message *from);

/* How much memory it has taken for what was added. */
size_t message_merger_bytes(const struct message_merger *merger);

/*
 * The merged message, which message_free() frees. May be called once; afterwards the merger can
 * only be freed. 0 or -ENOMEM.
 */
int message_merger_end(struct message_merger *merger, struct message *ret);

/*
 * Add `from` to a message, whose memory is replaced. The profile of `into` may be NULL: it is empty
 * then. 0, or -ENOMEM or -EOVERFLOW: it is as it was.
 */
int message_merge(struct message *into, const struct message *from);

#endif
