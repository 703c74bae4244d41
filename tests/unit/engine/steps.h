/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of single steps of the engine have in common: who does it, and the steps. */
#ifndef CTXPROP_TEST_STEPS_H
#define CTXPROP_TEST_STEPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store.h"
#include "engine/peer.h"

enum { TGID = 100, TID = 101, OTHER = 102, THIRD = 103 };

static inline struct actor actor(__u32 tid, int loop)
{
	return (struct actor){.key = {.tgid = TGID, .tid = tid},
			      .kind = ACTOR_THREAD,
			      .path = 1,
			      .loop = loop ? ACTOR_LOOP : ACTOR_BLOCKS,
			      .turn = {.switches = store_turn}};
}

/* A request arrives and is read by a thread. */
static inline void take(struct socket *s, __u64 id, const struct actor *by)
{
	store_request(id);
	s->flags = SOCKET_SERVER;
	s->serving = id;
	engine_take(id, by, 1);
	engine_read(s, by, actor_thread(by));
}

static inline void end(__u64 id)
{
	engine_end(id);
	request_delete(id);
}

/* The call that begins now on a connection. */
static inline const struct call *call(struct socket *s, const struct actor *by)
{
	engine_call(s, by, s->calls_end * 1000, 80);
	return socket_last_call(s);
}

static inline const struct process *process(void)
{
	__u32 tgid = TGID;

	return process_lookup(&tgid);
}

/* The process has shown a habit as often as it takes. */
static inline void has_shown(struct process *p, enum habit_id id)
{
	while (!process_has_habit(p, id))
		process_keeps(p, id);
}

/* Before each case. */
static inline int begin(void **state)
{
	(void)state;
	store_clear();
	return 0;
}

#define CASE(f) cmocka_unit_test_setup(f, begin)

#endif
