/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store that the engine works on, without a kernel: what the maps of bpf/engine/maps.bpf.h
 * are to the probes. To be included before the engine.
 */
#ifndef CTXPROP_TEST_STORE_H
#define CTXPROP_TEST_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/cdefs.h>

#include "engine/ids.h"
#include "engine/traces.h"
#include "engine/worker.h"

struct request *request_lookup(__u64 id);
struct request *request_make(__u64 id);
void request_delete(__u64 id);
struct id_set *request_ids_set(__u64 hash);
__u64 *id_claims_lookup(__u64 hash);
__u32 request_ids_add(__u64 hash, __u64 id, __u32 from);
void request_ids_remove(__u64 hash, __u32 where, __u64 id);
const struct traces_ctx *adopted_lookup(__u64 id);
int adopted_add(__u64 id, const struct traces_ctx *shown);
void adopted_delete(__u64 id);
struct worker *worker_lookup(const struct worker_key *key);
struct worker *worker_make(const struct worker_key *key);
struct worker *worker_make_for(const struct worker_key *key, __u32 payer);
void worker_delete(const struct worker_key *key);
struct process *process_lookup(const __u32 *tgid);
struct process *process_make(const __u32 *tgid);
void process_begins(__u32 tgid);
void traces_set(__u64 key, const struct traces_ctx *shown);
void traces_unset(__u64 key);
const struct traces_ctx *traces_lookup(__u64 key);

/* Loops count their turns; `switches` of a turn is its number. */
extern __u64 store_turn;
/* Whether epoll has reported something beside what was read last. */
extern int store_has_others;

static inline int turn_may_have_others(const struct turn *t)
{
	(void)t;
	return store_has_others;
}

static inline int turn_goes_on(const struct turn *t)
{
	return t->switches == store_turn;
}

/* Forget everything. */
void store_clear(void);

/* Each byte of the trace ids that requests bring. */
#define STORE_TRACE 0x55

/* A request that has arrived, with this id as span id, too. */
struct request *store_request(__u64 id);

/* How many programs have begun to take requests. */
extern __u32 store_newcomers;

/* So many workers a process may have; store_clear() makes it PROCESS_WORKERS. */
extern __u32 store_workers;

/* How many there are, of all. */
size_t store_workers_count(void);

static inline __u32 process_workers_kept(void)
{
	return PROCESS_WORKERS_KEPT;
}

/* The process is gone; others may get its id. */
void store_process_ends(__u32 tgid);

/* What other CPUs do at that moment; NULL: nothing. */
extern void (*store_before_adoption)(void);

/* How many slots for numbers of x-request-id are in use. */
size_t store_ids_count(void);

/* How many requests have become part of their program's trace. */
size_t store_adopted_count(void);

/* What profilers see of a thread; NULL: nothing. */
const struct traces_ctx *store_traces(__u32 tgid, __u32 tid);

/* How many threads have an entry. */
size_t store_traces_count(void);

#endif
