/* SPDX-License-Identifier: Apache-2.0 */
/* Losses as an ExportLogsServiceRequest of OTLP: one log record each, of severity WARN. */
#ifndef CTXPROP_OTLP_LOSS_MESSAGE_H
#define CTXPROP_OTLP_LOSS_MESSAGE_H

#include "otlp/losses.h"

/*
 * The message of what `count` losses have grown by since they were told of; at most LOSSES_MAX.
 * `host` is the name of this host, `wall_ns` the time (CLOCK_REALTIME). The bytes are the caller's.
 * Returns 0 or -ENOMEM.
 */
int loss_message_pack(struct loss *const *loss, size_t count, const char *host, __u64 wall_ns,
		      __u8 **ret_bytes, size_t *ret_size);

#endif
