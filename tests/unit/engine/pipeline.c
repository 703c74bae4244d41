// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "pipeline.h"

#define PORT 6379

uint64_t pipeline_ask(struct pipeline *p, const struct actor *by, uint32_t chain, uint64_t now,
		      uint64_t delay)
{
	uint64_t at = now + delay;

	assert_true(p->asks < PIPELINE_ASKS);
	if (p->asks && p->ask[p->asks - 1].at > at)
		at = p->ask[p->asks - 1].at;
	p->ask[p->asks].chain = chain;
	p->ask[p->asks++].at = at;
	if (!socket_is_quiet(&p->client))
		engine_send_more(&p->client, actor_worker(by));
	if (socket_is_quiet(&p->client)) {
		engine_call(&p->client, by, 100 * p->client.calls_end, PORT);
		engine_call_limit(&p->client, by, PORT);
	}
	return at;
}

uint32_t pipeline_read(struct pipeline *p, const struct actor *by, uint64_t now,
		       uint32_t ret_chain[PIPELINE_ASKS])
{
	uint32_t read = 0;

	while (read < p->asks && p->ask[read].at <= now) {
		ret_chain[read] = p->ask[read].chain;
		read++;
	}
	if (!read)
		return 0;
	p->asks -= read;
	memmove(p->ask, p->ask + read, p->asks * sizeof(p->ask[0]));
	if (p->client.flags & SOCKET_SHARED)
		engine_answer_shared(&p->client, by, actor_thread(by));
	else
		engine_answer(&p->client, by, actor_thread(by));
	return read;
}
