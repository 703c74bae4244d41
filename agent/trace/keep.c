// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/text.h"
#include "trace/keep.h"
#include "trace/shares.h"
#include "trace/slow.h"

#define REST_NS     (2 * NS_PER_SECOND) /* after so long without an open request, a trace is over */
#define CROWDED     12288U              /* with more spans than this, a trace is not waited for */
#define BUCKET_BITS 14
#define BUCKETS     (1U << BUCKET_BITS)
#define MEMORY      32768 /* decisions that are remembered, of each kind; a power of two */

struct held {
	struct held *next;
	struct span span;
};

/* A trace of which nothing is decided yet; in its bucket, and in the order of what happened last.
 */
struct trace {
	__u8 id[16];
	unsigned int open; /* requests that are not over */
	unsigned int count;
	__u64 last_ns;
	char owner[SERVICE_OWNER_MAX]; /* whose share it is of */
	unsigned int votes;            /* spans of this owner that outnumber those of others */
	struct held *first, *last;
	struct trace *next_in_bucket, *older, *newer;
};

/* Traces that were kept, or dropped, by the low bytes of their ids, which are random. */
struct memory {
	__u8 id[MEMORY][16];
};

struct keep {
	struct keep_rules rules;
	void (*on_span)(const struct span *span, void *data);
	void *data;
	struct slow *slow;
	struct memory *kept, *dropped;
	struct trace *bucket[BUCKETS];
	__u64 secret[2]; /* clients choose ids, and must not be able to predict which of them share
			    a bucket */
	struct trace *oldest, *newest;
	size_t held;
	__u64 now_ns;
	struct keep_counts counts;
	struct shares shares; /* while room is made: spans that wait */
};

int keep_rules_parse(const char *text, struct keep_rules *ret_rules)
{
	struct keep_rules rules = {};
	const char *word = text;
	size_t length;

	do {
		length = strcspn(word, ",");
		if (length == strlen("errors") && !strncmp(word, "errors", length))
			rules.errors = true;
		else if (length == strlen("slow") && !strncmp(word, "slow", length))
			rules.slow = true;
		else
			return -EINVAL;
		word += length;
	} while (*word++);
	*ret_rules = rules;
	return 0;
}

int keep_new(const struct keep_rules *rules, void (*on_span)(const struct span *span, void *data),
	     void *data, struct keep **ret_keep)
{
	struct keep *keep = calloc(1, sizeof(*keep));

	if (!keep)
		return -ENOMEM;
	keep->rules = *rules;
	keep->on_span = on_span;
	keep->data = data;
	if (getrandom(keep->secret, sizeof(keep->secret), GRND_NONBLOCK) < 0)
		keep->secret[0] = clock_now_ns();
	keep->slow = slow_new();
	keep->kept = calloc(1, sizeof(*keep->kept));
	keep->dropped = calloc(1, sizeof(*keep->dropped));
	if (!keep->slow || !keep->kept || !keep->dropped) {
		keep_free(keep);
		return -ENOMEM;
	}
	*ret_keep = keep;
	return 0;
}

static __u32 low_bytes(const __u8 id[16])
{
	__u32 bytes;

	memcpy(&bytes, id + 12, sizeof(bytes));
	return bytes;
}

static void remember(struct memory *memory, const __u8 id[16])
{
	memcpy(memory->id[low_bytes(id) & (MEMORY - 1)], id, 16);
}

static bool remembers(const struct memory *memory, const __u8 id[16])
{
	return !memcmp(memory->id[low_bytes(id) & (MEMORY - 1)], id, 16);
}

static struct trace **bucket_of(struct keep *keep, const __u8 id[16])
{
	__u64 half[2];

	memcpy(half, id, sizeof(half));
	half[0] = half[0] * (keep->secret[0] | 1) + half[1] * (keep->secret[1] | 1);
	return &keep->bucket[half[0] >> (64 - BUCKET_BITS)];
}

/* The link that leads to a trace; to NULL if it is not here. */
static struct trace **find(struct keep *keep, const __u8 id[16])
{
	struct trace **link = bucket_of(keep, id);

	while (*link && memcmp((*link)->id, id, sizeof((*link)->id)) != 0)
		link = &(*link)->next_in_bucket;
	return link;
}

static void unlist(struct keep *keep, struct trace *trace)
{
	*(trace->older ? &trace->older->newer : &keep->oldest) = trace->newer;
	*(trace->newer ? &trace->newer->older : &keep->newest) = trace->older;
}

static void list(struct keep *keep, struct trace *trace)
{
	trace->last_ns = keep->now_ns;
	trace->newer = NULL;
	trace->older = keep->newest;
	*(trace->older ? &trace->older->newer : &keep->oldest) = trace;
	keep->newest = trace;
}

/*
 * The trace of a span, which is made if it is new, and becomes the most recent one. NULL: no
 * memory.
 */
static struct trace *touch(struct keep *keep, const struct span *span)
{
	struct trace **link = find(keep, span->trace_id), *trace = *link;

	if (trace) {
		unlist(keep, trace);
	} else {
		trace = calloc(1, sizeof(*trace));
		if (!trace)
			return NULL;
		memcpy(trace->id, span->trace_id, sizeof(trace->id));
		*link = trace;
	}
	list(keep, trace);
	return trace;
}

/* Remove a trace; if it is kept, its spans are passed on. */
static void decide(struct keep *keep, struct trace *trace, bool is_kept)
{
	remember(is_kept ? keep->kept : keep->dropped, trace->id);
	for (struct held *held = trace->first, *next; held; held = next) {
		next = held->next;
		if (is_kept)
			keep->on_span(&held->span, keep->data);
		free(held);
	}
	keep->held -= trace->count;
	*(is_kept ? &keep->counts.kept : &keep->counts.dropped) += trace->count;
	*find(keep, trace->id) = trace->next_in_bucket;
	unlist(keep, trace);
	free(trace);
}

void keep_free(struct keep *keep)
{
	if (!keep)
		return;
	while (keep->oldest)
		decide(keep, keep->oldest, false);
	slow_free(keep->slow);
	free(keep->kept);
	free(keep->dropped);
	free(keep);
}

static bool is_decided(const struct keep *keep, const __u8 id[16])
{
	return remembers(keep->kept, id) || remembers(keep->dropped, id);
}

void keep_open(struct keep *keep, const struct span *span)
{
	struct trace *trace;

	if (span_is_sampled(span) || is_decided(keep, span->trace_id))
		return;
	trace = touch(keep, span);
	if (trace)
		trace->open++;
}

/* Returns the trace of a request that is over, if it waits here. */
static struct trace *close_one(struct keep *keep, const struct span *span)
{
	struct trace *trace = *find(keep, span->trace_id);

	if (trace && trace->open)
		trace->open--;
	return trace ? touch(keep, span) : NULL;
}

void keep_gone(struct keep *keep, const struct span *span)
{
	if (!span_is_sampled(span))
		close_one(keep, span);
}

/* Is it a reason to keep its trace? Slow ones learn from all spans. */
static bool is_worth(struct keep *keep, const struct span *span)
{
	bool judged = span->kind == SPAN_SERVER || span->is_root;
	bool slow = keep->rules.slow && judged && slow_judge(keep->slow, span);

	return slow || (keep->rules.errors && span_is_error(span));
}

/* Drop the oldest traces of owners with more than `level` spans. */
static void drop_above(struct keep *keep, size_t level)
{
	struct trace *trace = keep->oldest, *newer;
	struct share *share;

	for (; trace; trace = newer) {
		newer = trace->newer;
		share = shares_of(&keep->shares, trace->owner);
		if (!trace->count || share->taken <= level)
			continue;
		share->taken -= trace->count;
		keep->counts.crowded += trace->count;
		decide(keep, trace, false);
	}
}

/*
 * Make room: first by traces that seem to be over; then, of the owners with most spans, by those
 * that were inactive longest.
 */
static void make_room(struct keep *keep)
{
	struct trace *newer;

	shares_clear(&keep->shares);
	for (struct trace *trace = keep->oldest; trace; trace = newer) {
		newer = trace->newer;
		if (!trace->open)
			decide(keep, trace, false);
		else if (trace->count)
			shares_of(&keep->shares, trace->owner)->taken += trace->count;
	}
	if (keep->held > CROWDED)
		drop_above(keep, shares_level(&keep->shares, CROWDED));
}

/* Whose share a trace is of: who has most of its spans, if he has more than half of them. */
static void vote(struct trace *trace, const char *owner)
{
	if (!trace->votes)
		text_copy(trace->owner, sizeof(trace->owner), owner);
	trace->votes += strcmp(trace->owner, owner) ? -1 : 1;
}

static void hold(struct keep *keep, struct trace *trace, const struct span *span)
{
	struct held *held = malloc(sizeof(*held));

	if (!held) {
		keep->counts.crowded++;
		keep->counts.dropped++;
		decide(keep, trace, false);
		return;
	}
	held->next = NULL;
	held->span = *span;
	vote(trace, span->service.owner);
	*(trace->last ? &trace->last->next : &trace->first) = held;
	trace->last = held;
	trace->count++;
	keep->held++;
	if (keep->held >= KEEP_SPANS_MAX)
		make_room(keep);
}

static void add(struct keep *keep, const struct span *span, bool is_worth)
{
	struct trace *trace = close_one(keep, span);

	if (!trace)
		trace = touch(keep, span);
	if (!trace) {
		keep->counts.crowded++;
		keep->counts.dropped++;
		return;
	}
	if (!is_worth) {
		hold(keep, trace, span);
		return;
	}
	decide(keep, trace, true);
	keep->counts.kept++;
	keep->on_span(span, keep->data);
}

void keep_span(struct keep *keep, const struct span *span)
{
	bool worth = is_worth(keep, span);

	if (span_is_sampled(span))
		return;
	if (remembers(keep->kept, span->trace_id)) {
		keep->counts.kept++;
		keep->on_span(span, keep->data);
	} else if (remembers(keep->dropped, span->trace_id)) {
		keep->counts.dropped++;
		keep->counts.late += worth;
	} else {
		add(keep, span, worth);
	}
}

/* They are in the order of their last activity, so the first active one ends the search. */
void keep_look(struct keep *keep, __u64 now_ns)
{
	const __u64 rest_ns = keep->held > CROWDED ? 0 : REST_NS;
	struct trace *trace = keep->oldest, *newer;

	keep->now_ns = now_ns;
	for (; trace && now_ns - trace->last_ns >= rest_ns; trace = newer) {
		newer = trace->newer;
		if (!trace->open)
			decide(keep, trace, false);
	}
}

const struct keep_counts *keep_counts(const struct keep *keep)
{
	return &keep->counts;
}
