/* SPDX-License-Identifier: Apache-2.0 */
/* One request as it is to be sent, and the answer it must get. */
#ifndef CHAOS_PLAN_H
#define CHAOS_PLAN_H

#define PLAN_TEXT_MAX 256

#include "settings.h"
#include "talk.h"

/* What becomes of the connection after the request. */
enum stream { STREAM_HTTP, STREAM_UPGRADE, STREAM_CONNECT, STREAM_RAW };

struct plan {
	uint64_t id;
	struct buffer head;
	uint64_t head_hash, line_hash;
	enum body_kind body_kind;
	uint64_t body_seed, body_length;
	struct body_writer body;
	enum cut cut;
	size_t cut_at;
	enum stream stream;
	struct ask ask;
	unsigned int status;
	bool is_head, is_http10, own, offers, expects, last, closes, half_close;
	/* filled in while it runs */
	bool head_queued, continued;
	unsigned int early;
};

/*
 * Make request `id`. `last`: the connection ends after it (upgrades and closing answers are only
 * drawn then); `first`: it is the first of its connection. Free with plan_free().
 */
struct plan *plan_new(const struct settings *settings, uint64_t id, bool first, bool last);

void plan_free(struct plan *plan);

/* True when an agent must add a header to it. */
bool plan_is_eligible(const struct plan *plan);

/* Bytes on the wire that the request takes about; exact but for chunk framing. */
uint64_t plan_size(const struct plan *plan);

/* One line that identifies the request in messages; returns `to`. */
const char *plan_describe(const struct plan *plan, char *to, size_t size);

#endif
