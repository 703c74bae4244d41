// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/foreign.h"
#include "base/text.h"
#include "http/http1/head.h"
#include "reasons.h"
#include "records.h"
#include "trace/join.h"
#include "trace/routes.h"
#include "trace/span_pack.h"
#include "traceparent.h"

/* The most heads that are kept at once; the oldest one makes room for a new one. */
#define PARTS_MAX 256

/* One head; a place in the ring is used again when as many others have begun. */
struct part {
	bool served;
	size_t size; /* 0: there is none */
	struct record_begin head;
};

struct parts {
	unsigned int next;
	struct part part[PARTS_MAX];
};

static struct parts *parts_new(void)
{
	return calloc(1, sizeof(struct parts));
}

static void parts_free(struct parts *parts)
{
	free(parts);
}

static bool is_same_head(const struct part *part, const struct record_begin *piece, bool served)
{
	const struct record_begin *head = &part->head;

	return part->size && part->served == served && head->head_start == piece->head_start &&
	       head->netns == piece->netns && head->local_port == piece->local_port &&
	       head->remote_port == piece->remote_port &&
	       !memcmp(head->remote, piece->remote, sizeof(head->remote)) &&
	       !memcmp(head->local, piece->local, sizeof(head->local));
}

/* Searched from the newest on, which is mostly the one. NULL: none of its pieces is known. */
static struct part *find_part(struct parts *parts, const struct record_begin *piece, bool served)
{
	for (unsigned int i = 1; i <= PARTS_MAX; i++) {
		struct part *part = &parts->part[(parts->next - i) % PARTS_MAX];

		if (is_same_head(part, piece, served))
			return part;
	}
	return NULL;
}

static void append(struct part *part, const struct record_begin *piece)
{
	size_t room = RECORD_HEAD_MAX - part->size;
	size_t size = piece->head_size < room ? piece->head_size : room;

	memcpy(part->head.head + part->size, piece->head, size);
	part->size += size;
}

/* Keep a piece (RECORD_SERVED_PART or RECORD_CALLED_PART). */
static void parts_add(struct parts *parts, const struct record_begin *piece)
{
	bool served = piece->kind == RECORD_SERVED_PART;
	struct part *part = find_part(parts, piece, served);

	if (!part) {
		part = &parts->part[parts->next++ % PARTS_MAX];
		memcpy(&part->head, piece, offsetof(struct record_begin, head));
		part->served = served;
		part->size = 0;
	}
	append(part, piece);
}

/*
 * The whole head of a request whose record has the last piece: as much of it as fits into
 * RECORD_HEAD_MAX bytes at `ret_head`. Returns how many that are, 0 when the first pieces are not
 * known. The pieces are forgotten.
 */
static size_t parts_take(struct parts *parts, const struct record_begin *last,
			 __u8 ret_head[RECORD_HEAD_MAX])
{
	struct part *part = find_part(parts, last, last->kind == RECORD_SERVED);
	size_t size;

	if (!part)
		return 0;
	append(part, last);
	size = part->size;
	memcpy(ret_head, part->head.head, size);
	part->size = 0;
	return size;
}

/* The most requests that wait for their end: as many as the packet programs follow. */
#define OPEN_MAX 65536
#define BUCKETS  16384 /* a power of two */

/* A request that is not over, in its bucket and in the order of arrival. */
struct open {
	struct open *next_in_bucket;
	struct open *older, *newer;
	__u64 span_id; /* this and the next three: as in its span */
	__u64 start_ns;
	enum span_kind kind;
	__u32 position;
	__u32 added; /* bytes that ctxprop has put into it on this host */
	bool is_own; /* it is a call to this process */
	__u8 packed[];
};

struct join {
	void (*on_span)(const struct span *span, void *data);
	void (*on_open)(const struct span *span, void *data); /* NULL: nobody wants to know */
	void (*on_gone)(const struct span *span, void *data);
	void *data;
	__u32 own_tgid;
	struct services *services;
	struct parts *parts;
	struct routes *routes[2]; /* of requests that are served, and of calls */
	struct head_reader *reader;
	struct head head; /* that the reader has completed last */
	bool has_head;
	size_t head_max;
	const struct redact *redact; /* NULL: nothing */
	struct open *bucket[BUCKETS];
	struct open *oldest, *newest;
	size_t open;
	struct join_counts counts;
};

static void on_head(void *data, const struct head *head, uint64_t at)
{
	struct join *join = data;

	(void)at;
	join->head = *head;
	join->has_head = true;
}

static void on_end(void *data, uint64_t at)
{
	(void)data;
	(void)at;
}

int join_new(void (*on_span)(const struct span *span, void *data), void *data,
	     struct join **ret_join)
{
	struct join *join = calloc(1, sizeof(*join));
	struct head_handler handler = {.head = on_head, .end = on_end, .data = join};

	if (!join)
		return -ENOMEM;
	join->on_span = on_span;
	join->data = data;
	join->own_tgid = (__u32)getpid();
	join->head_max = RECORD_HEAD_MAX;
	join->services = services_new();
	join->parts = parts_new();
	join->routes[0] = routes_new();
	join->routes[1] = routes_new();
	if (!join->services || !join->parts || !join->routes[0] || !join->routes[1] ||
	    head_reader_new(HEAD_REQUEST, &handler, &join->reader)) {
		join_free(join);
		return -ENOMEM;
	}
	*ret_join = join;
	return 0;
}

void join_set_rules(struct join *join, struct service_rules *rules)
{
	services_set_rules(join->services, rules);
}

void join_set_pods(struct join *join, struct pods *pods)
{
	services_set_pods(join->services, pods);
}

bool join_misses_pod(struct join *join)
{
	return services_miss_pod(join->services);
}

void join_free(struct join *join)
{
	if (!join)
		return;
	for (struct open *open = join->oldest, *newer; open; open = newer) {
		newer = open->newer;
		free(open);
	}
	head_reader_free(join->reader);
	services_free(join->services);
	parts_free(join->parts);
	routes_free(join->routes[0]);
	routes_free(join->routes[1]);
	free(join);
}

void join_watch(struct join *join, void (*on_open)(const struct span *span, void *data),
		void (*on_gone)(const struct span *span, void *data))
{
	join->on_open = on_open;
	join->on_gone = on_gone;
}

void join_limit_heads(struct join *join, size_t bytes, const struct redact *redact)
{
	join->head_max = bytes;
	join->redact = redact;
}

static void tell_gone(struct join *join, const struct span *span)
{
	if (join->on_gone)
		join->on_gone(span, join->data);
}

/*
 * Span ids are random, except for their upper bits, which are the request's index (engine/model.h).
 */
static struct open **bucket_of(struct join *join, __u64 span_id)
{
	return &join->bucket[(span_id * 0x9e3779b97f4a7c15ULL) >> 50 & (BUCKETS - 1)];
}

/* The link that leads to the request of this id and kind; to NULL if there is none. */
static struct open **find(struct join *join, __u64 span_id, enum span_kind kind)
{
	struct open **link = bucket_of(join, span_id);

	while (*link && ((*link)->span_id != span_id || (*link)->kind != kind))
		link = &(*link)->next_in_bucket;
	return link;
}

/* Remove a request from the lists; it belongs to the caller then. */
static struct open *take(struct join *join, struct open **link)
{
	struct open *open = *link;

	*link = open->next_in_bucket;
	*(open->older ? &open->older->newer : &join->oldest) = open->newer;
	*(open->newer ? &open->newer->older : &join->newest) = open->older;
	join->open--;
	return open;
}

static void give_up(struct join *join, struct open *open)
{
	struct open **link = find(join, open->span_id, open->kind);
	struct span span;

	join->counts.endless++;
	span_unpack(open->packed, &span);
	tell_gone(join, &span);
	if (*link)
		free(take(join, link));
}

static void add(struct join *join, struct open *open)
{
	struct open **link;

	if (join->open >= OPEN_MAX)
		give_up(join, join->oldest);
	link = bucket_of(join, open->span_id);
	open->next_in_bucket = *link;
	*link = open;
	open->older = join->newest;
	*(open->older ? &open->older->newer : &join->oldest) = open;
	join->newest = open;
	join->open++;
}

/* Before it is cut, so that patterns match the whole text. */
static void set_text(const struct join *join, char *to, size_t size, const char *value)
{
	char whole[RECORD_HEAD_MAX + 1];

	if (!value)
		return;
	text_copy(whole, sizeof(whole), value);
	if (join->redact)
		redact_apply(join->redact, whole, sizeof(whole));
	foreign_copy(to, size, whole);
}

/* A path without query and fragment, which may have private data. */
static void set_path(const struct join *join, struct span *span, const char *target)
{
	const char *scheme = strstr(target, "://"), *path = target;
	char whole[RECORD_HEAD_MAX + 1];

	if (*target != '/' && scheme) { /* absolute form (RFC 9112, 3.2.2) */
		path = strchr(scheme + 3, '/');
		path = path ? path : "/";
	}
	text_copy(whole, sizeof(whole), path);
	whole[strcspn(whole, "?#")] = '\0';
	set_text(join, span->path, sizeof(span->path), whole);
}

/*
 * If a program has written a traceparent itself, the callee knows these ids, so they are the
 * span's. If its trace is not the one that the engine believes in, the program is right.
 */
static void take_own_ids(struct span *span, const char *value)
{
	struct traceparent_text text = {};
	struct traceparent own;
	size_t length = value ? strlen(value) : 0;

	text.len = (__u8)(length < TRACEPARENT_TEXT_MAX ? length : TRACEPARENT_TEXT_MAX);
	text.more = length > TRACEPARENT_TEXT_MAX;
	if (value)
		memcpy(text.byte, value, text.len);
	if (!value || traceparent_read(&text, &own))
		return;
	span->trace_flags = own.flags;
	if (!memcmp(span->trace_id, own.trace_id, sizeof(own.trace_id)) && span->parent_id)
		return;
	memcpy(span->trace_id, own.trace_id, sizeof(own.trace_id));
	memcpy(&span->parent_id, own.span_id, sizeof(own.span_id));
	span->is_root = false;
}

/* Is all of the path there, or as much of it as a span has room for? */
static bool has_path(const __u8 *bytes, size_t size, const char *target)
{
	return memchr(bytes, '\n', size) || strpbrk(target, "?#") ||
	       strlen(target) >= SPAN_PATH_MAX;
}

/* The reader knows some methods only: all heads are read as of this one. */
static const char any_method[] = "GET";

static void read_head(struct join *join, struct span *span, const struct record_begin *begin)
{
	struct head *head = &join->head;
	const __u8 *bytes = begin->head;
	__u8 whole[RECORD_HEAD_MAX];
	size_t size = begin->head_size, method;
	bool is_short;

	if (begin->flags & RECORD_CUT) {
		bytes = whole;
		size = parts_take(join->parts, begin, whole);
	}
	is_short = begin->flags & RECORD_SHORT || size >= join->head_max;
	size = size < join->head_max ? size : join->head_max;
	join->has_head = false;
	method = head_method(bytes, size);
	head_reader_reset(join->reader);
	/* With any method, the target and the fields are read in the same way. */
	if (method)
		head_reader_feed(join->reader, any_method, sizeof(any_method) - 1);
	head_reader_feed(join->reader, bytes + method, size - method);
	/* Of a call the blank line is not told. */
	if (!join->has_head && !is_short)
		head_reader_feed(join->reader, "\r\n", 2);
	if (!join->has_head)
		head_reader_partial(join->reader, head);
	span->is_cut = !size || (head->truncated && is_short);
	if (!size || !*head->target)
		return;
	foreign_copy_bytes(span->method, sizeof(span->method), (const char *)bytes, method);
	if (has_path(bytes, size, head->target))
		set_path(join, span, head->target);
	set_text(join, span->host, sizeof(span->host), head_field(head, "host"));
	set_text(join, span->agent, sizeof(span->agent), head_field(head, "user-agent"));
	if (begin->kind == RECORD_CALLED && begin->reason == REASON_PRESENT)
		take_own_ids(span, head_field(head, "traceparent"));
}

static void fill(struct span *span, const struct record_begin *begin)
{
	memcpy(span->trace_id, begin->trace_id, sizeof(span->trace_id));
	memcpy(&span->parent_id, begin->parent_id, sizeof(span->parent_id));
	memcpy(span->local, begin->local, sizeof(span->local));
	memcpy(span->remote, begin->remote, sizeof(span->remote));
	span->span_id = begin->span_id;
	span->kind = begin->kind == RECORD_SERVED ? SPAN_SERVER : SPAN_CLIENT;
	span->trace_flags = begin->trace_flags;
	span->is_root = begin->flags & RECORD_ROOT;
	span->is_named = begin->flags & RECORD_NAMED;
	span->is_forwarded = begin->flags & RECORD_FORWARDED;
	span->is_reused = begin->flags & RECORD_REUSED;
	span->evidence = begin->evidence;
	span->veto = begin->veto;
	span->reason = begin->reason;
	span->start_ns = begin->time_ns;
	span->position = begin->position;
	span->cookie = begin->cookie;
	span->netns = begin->netns;
	span->local_port = begin->local_port;
	span->remote_port = begin->remote_port;
	span->tgid = begin->tgid;
	span->tid = begin->tid;
}

/*
 * The bytes that ctxprop has added on this host to the call that this request is. The position of
 * its first byte must be the same, too, since any client can name a span that is not its own.
 */
static __u32 added_by_call(struct join *join, const struct span *served)
{
	const struct open *call = *find(join, served->parent_id, SPAN_CLIENT);

	return call && call->position == served->position ? call->added : 0;
}

/* NULL: there is no memory. */
static struct open *open_new(const struct span *span)
{
	struct open *open = malloc(sizeof(*open) + span_packed_size(span));

	if (!open)
		return NULL;
	*open = (struct open){.span_id = span->span_id,
			      .start_ns = span->start_ns,
			      .kind = span->kind,
			      .position = span->position};
	span_pack(span, open->packed);
	return open;
}

static void begin(struct join *join, const struct record_begin *record)
{
	struct span span = {};
	struct open *open;

	fill(&span, record);
	read_head(join, &span, record);
	/* Read now, since the process may have ended when the answer comes. */
	span.service = *services_find(join->services, record->tgid, &record->process);
	open = open_new(&span);
	if (!open) {
		join->counts.endless++;
		return;
	}
	open->added = record->kind == RECORD_CALLED ? record->added : added_by_call(join, &span);
	add(join, open);
	if (join->on_open)
		join->on_open(&span, join->data);
}

static void complete(struct span *span, const struct record_end *end)
{
	span->outcome = end->outcome;
	span->status = end->status;
	span->taken_ns = end->taken_ns;
	span->first_ns = end->first_ns;
	span->end_ns = end->time_ns;
	span->request_size = end->request_size;
	span->response_size = end->response_size;
	span->cookie = end->cookie ? end->cookie : span->cookie;
	if (end->tgid) {
		span->tgid = end->tgid;
		span->tid = end->tid;
	}
}

/*
 * Requests of this process itself are left out: spans of exporters would cause further spans for
 * ever.
 */
static bool is_own(const struct join *join, const struct open *open, const struct span *span)
{
	return open->is_own || span->tgid == join->own_tgid;
}

/* It is served by this process, so the call on this host that it answers is left out, too. */
static void disown_call(struct join *join, const struct span *served)
{
	struct open *call = *find(join, served->parent_id, SPAN_CLIENT);

	if (call)
		call->is_own = true;
}

static void hand_on(struct join *join, const struct open *open, const struct span *span)
{
	join->counts.spans++;
	if (is_own(join, open, span)) {
		join->counts.own++;
		if (span->kind == SPAN_SERVER)
			disown_call(join, span);
		tell_gone(join, span);
		return;
	}
	join->counts.unsampled += !span_is_sampled(span);
	join->on_span(span, join->data);
}

static void name_route(struct join *join, struct span *span)
{
	const struct routes_service service = {span->service.name, span->service.owner};

	routes_name(join->routes[span->kind == SPAN_CLIENT], &service, span->path, span->status,
		    span->route, sizeof(span->route));
}

static void end(struct join *join, const struct record_end *record)
{
	enum span_kind kind = record->kind == RECORD_SERVED_END ? SPAN_SERVER : SPAN_CLIENT;
	struct open **link = find(join, record->span_id, kind), *open;
	struct span span;

	if (!*link) {
		join->counts.beginless++;
		return;
	}
	open = take(join, link);
	span_unpack(open->packed, &span);
	complete(&span, record);
	if (kind == SPAN_SERVER) {
		span.service = *services_find(join->services, record->tgid, &record->process);
		span.request_size -= span.request_size ? open->added : 0;
	}
	if (span.path[0])
		name_route(join, &span);
	hand_on(join, open, &span);
	free(open);
}

void join_record(struct join *join, const void *record, size_t size)
{
	const struct record_begin *first = record;
	size_t head_at = offsetof(struct record_begin, head);
	bool has_head = size >= head_at && first->head_size <= size - head_at;

	if (has_head && (first->kind == RECORD_SERVED || first->kind == RECORD_CALLED))
		begin(join, first);
	else if (has_head &&
		 (first->kind == RECORD_SERVED_PART || first->kind == RECORD_CALLED_PART))
		parts_add(join->parts, first);
	else if (size >= sizeof(struct record_end) &&
		 (first->kind == RECORD_SERVED_END || first->kind == RECORD_CALLED_END))
		end(join, record);
	else
		join->counts.malformed++;
}

void join_expire(struct join *join, __u64 before_ns)
{
	while (join->oldest && join->oldest->start_ns < before_ns)
		give_up(join, join->oldest);
}

size_t join_open(const struct join *join)
{
	return join->open;
}

struct services *join_services(const struct join *join)
{
	return join->services;
}

const struct join_counts *join_counts(const struct join *join)
{
	return &join->counts;
}
