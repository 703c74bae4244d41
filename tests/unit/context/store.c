// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <stdlib.h>

#include "store.h"

#define SLOTS 4096

/* A table of values that never move; searched from start to end. */
struct table {
	size_t key_size, value_size, used;
	struct {
		bool live;
		unsigned char key[16];
		void *value;
	} slot[SLOTS];
};

static struct table requests = {.key_size = sizeof(__u64), .value_size = sizeof(struct request)};
static struct table workers = {.key_size = sizeof(struct worker_key),
			       .value_size = sizeof(struct worker)};
static struct table processes = {.key_size = sizeof(__u32), .value_size = sizeof(struct process)};
static struct table ids = {.key_size = sizeof(struct id_key),
			   .value_size = sizeof(struct id_entry)};
static struct table traces = {.key_size = sizeof(__u64), .value_size = sizeof(struct traces_ctx)};
static struct table *const tables[] = {&requests, &workers, &processes, &ids, &traces};

__u64 store_turn;

static void *find(const struct table *t, const void *key)
{
	for (size_t i = 0; i < t->used; i++)
		if (t->slot[i].live && !memcmp(t->slot[i].key, key, t->key_size))
			return t->slot[i].value;
	return NULL;
}

static void *make(struct table *t, const void *key)
{
	void *value = find(t, key);
	size_t i = 0;

	if (value)
		return value;
	while (i < t->used && t->slot[i].live)
		i++;
	assert(i < SLOTS);
	t->used += i == t->used;
	t->slot[i].live = true;
	memcpy(t->slot[i].key, key, t->key_size);
	return t->slot[i].value = calloc(1, t->value_size);
}

static void drop(struct table *t, const void *key)
{
	for (size_t i = 0; i < t->used; i++) {
		if (!t->slot[i].live || (key && memcmp(t->slot[i].key, key, t->key_size) != 0))
			continue;
		t->slot[i].live = false;
		free(t->slot[i].value);
	}
}

void store_clear(void)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		drop(tables[i], NULL);
		tables[i]->used = 0;
	}
	store_turn = 0;
}

struct request *request_lookup(__u64 id)
{
	return find(&requests, &id);
}

struct request *request_make(__u64 id)
{
	struct request *r = make(&requests, &id);

	r->id = id;
	return r;
}

struct request *store_request(__u64 id)
{
	struct request *r = request_make(id);

	memcpy(r->context.span_id, &id, sizeof(id));
	memset(r->context.trace_id, STORE_TRACE, sizeof(r->context.trace_id));
	return r;
}

void store_request_delete(__u64 id)
{
	drop(&requests, &id);
}

struct id_entry *request_ids_lookup(__u32 tgid, __u64 number)
{
	struct id_key key = {.tgid = tgid, .number = number};

	return find(&ids, &key);
}

int request_ids_add(__u32 tgid, __u64 number, __u64 id)
{
	struct id_key key = {.tgid = tgid, .number = number};

	id_entry_add(make(&ids, &key), id);
	return 0;
}

void request_ids_remove(__u32 tgid, __u64 number, __u64 id)
{
	struct id_key key = {.tgid = tgid, .number = number};
	struct id_entry *e = find(&ids, &key);

	if (e && id_entry_remove(e, id))
		drop(&ids, &key);
}

size_t store_ids_count(void)
{
	size_t count = 0;

	for (size_t i = 0; i < ids.used; i++)
		count += ids.slot[i].live;
	return count;
}

struct worker *worker_lookup(const struct worker_key *key)
{
	return find(&workers, key);
}

struct worker *worker_make(const struct worker_key *key)
{
	return make(&workers, key);
}

void worker_delete(const struct worker_key *key)
{
	drop(&workers, key);
}

struct process *process_lookup(const __u32 *tgid)
{
	return find(&processes, tgid);
}

struct process *process_make(const __u32 *tgid)
{
	return make(&processes, tgid);
}

void traces_set(__u64 key, const struct traces_ctx *shown)
{
	*(struct traces_ctx *)make(&traces, &key) = *shown;
}

void traces_unset(__u64 key)
{
	drop(&traces, &key);
}

const struct traces_ctx *traces_lookup(__u64 key)
{
	return find(&traces, &key);
}

const struct traces_ctx *store_traces(__u32 tgid, __u32 tid)
{
	__u64 key = traces_ctx_key(tgid, tid);

	return find(&traces, &key);
}

size_t store_traces_count(void)
{
	size_t count = 0;

	for (size_t i = 0; i < traces.used; i++)
		count += traces.slot[i].live;
	return count;
}
