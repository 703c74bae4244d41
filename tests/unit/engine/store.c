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
static struct table adopted = {.key_size = sizeof(__u64), .value_size = sizeof(struct traces_ctx)};
static struct table traces = {.key_size = sizeof(__u64), .value_size = sizeof(struct traces_ctx)};
static struct table *const tables[] = {&requests, &workers, &processes, &adopted, &traces};
static struct id_set ids[1 << ID_SET_BITS];
static __u64 claims[1 << ID_CLAIM_BITS];

__u64 store_turn;
__u32 store_newcomers;
__u32 store_workers;
static __u32 numbers; /* of processes */
void (*store_before_adoption)(void);

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

static size_t live(const struct table *t)
{
	size_t count = 0;

	for (size_t i = 0; i < t->used; i++)
		count += t->slot[i].live;
	return count;
}

void store_clear(void)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		drop(tables[i], NULL);
		tables[i]->used = 0;
	}
	memset(ids, 0, sizeof(ids));
	memset(claims, 0, sizeof(claims));
	store_turn = 0;
	store_newcomers = 0;
	store_workers = PROCESS_WORKERS;
	store_before_adoption = NULL;
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

void request_delete(__u64 id)
{
	const struct request *r = request_lookup(id);

	if (r && (r->flags & REQUEST_ADOPTED))
		adopted_delete(id);
	drop(&requests, &id);
}

struct id_set *request_ids_set(__u64 hash)
{
	return &ids[id_set_index(hash)];
}

__u64 *id_claims_lookup(__u64 hash)
{
	return &claims[id_claim_index(hash)];
}

__u32 request_ids_add(__u64 hash, __u64 id, __u32 from)
{
	id_claim(id_claims_lookup(hash), hash, from);
	return id_set_add(request_ids_set(hash), id_tag(hash), id);
}

void request_ids_remove(__u64 hash, __u32 where, __u64 id)
{
	id_set_remove(request_ids_set(hash), id_tag(hash), where, id);
}

size_t store_ids_count(void)
{
	size_t count = 0;

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		for (size_t j = 0; j < ID_SLOTS; j++)
			count += ids[i].slot[j].word || ids[i].slot[j].all;
	return count;
}

const struct traces_ctx *adopted_lookup(__u64 id)
{
	return find(&adopted, &id);
}

int adopted_add(__u64 id, const struct traces_ctx *shown)
{
	if (store_before_adoption)
		store_before_adoption();
	if (find(&adopted, &id))
		return -1;
	*(struct traces_ctx *)make(&adopted, &id) = *shown;
	return 0;
}

void adopted_delete(__u64 id)
{
	drop(&adopted, &id);
}

size_t store_adopted_count(void)
{
	return live(&adopted);
}

struct worker *worker_lookup(const struct worker_key *key)
{
	return find(&workers, key);
}

struct worker *worker_make_for(const struct worker_key *key, __u32 payer)
{
	struct worker *w = worker_lookup(key);
	struct process *p = process_lookup(&payer);

	if (w)
		return w;
	if (p && !share_take(&p->workers, store_workers))
		return NULL;
	w = make(&workers, key);
	if (p)
		w->share = (struct share_taken){.tgid = payer, .number = p->number};
	return w;
}

struct worker *worker_make(const struct worker_key *key)
{
	return worker_make_for(key, key->tgid);
}

void worker_delete(const struct worker_key *key)
{
	const struct worker *w = worker_lookup(key);
	struct process *p = w ? process_lookup(&w->share.tgid) : NULL;

	if (p && p->number == w->share.number)
		share_return(&p->workers);
	drop(&workers, key);
}

size_t store_workers_count(void)
{
	return live(&workers);
}

struct process *process_lookup(const __u32 *tgid)
{
	return find(&processes, tgid);
}

struct process *process_make(const __u32 *tgid)
{
	struct process *p = make(&processes, tgid);

	if (!p->number)
		p->number = ++numbers;
	return p;
}

void store_process_ends(__u32 tgid)
{
	drop(&processes, &tgid);
}

void process_begins(__u32 tgid)
{
	(void)tgid;
	store_newcomers++;
}

int store_has_others;

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
	return live(&traces);
}
