// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "inspect/sandbox.h"
#include "profile/confined.h"
#include "web/api_store.h"
#include "web/profile_process.h"

#define PATIENCE_NS (5 * NS_PER_SECOND)
#define LOOK_MS     100

static const struct sandbox_limits limits = {.cpu_seconds = 5, .data_bytes = 512UL << 20};

struct order {
	const struct profile_question *question;
	struct profile_answer *answer; /* in memory that both processes have */
};

static atomic_flag is_busy = ATOMIC_FLAG_INIT;

/* In the process. */
static int work(int socket, void *data)
{
	const struct order *order = data;

	(void)socket;
	profile_answer(order->question, order->answer);
	return 0;
}

/* Until it has ended, it takes too long, or the server is about to end. */
static enum sandbox_end wait_for(struct sandbox *sandbox)
{
	struct pollfd ended = {.fd = sandbox->pidfd, .events = POLLIN};
	const __u64 until_ns = clock_now_ns() + PATIENCE_NS;
	enum sandbox_end end;

	do {
		poll(&ended, 1, LOOK_MS);
		end = sandbox_look(sandbox);
	} while (end == SANDBOX_RUNS && clock_now_ns() < until_ns && !api_has_ended());
	return end;
}

static int run(struct order *order)
{
	_cleanup_sandbox_ struct sandbox sandbox = SANDBOX_NONE;
	int err = sandbox_start_within(&limits, work, order, &sandbox);

	if (err)
		return err;
	switch (wait_for(&sandbox)) {
	case SANDBOX_DONE:
		return order->answer->size <= PROFILE_ANSWER_MAX ? 0 : -EIO;
	case SANDBOX_RUNS:
	case SANDBOX_TOO_LONG:
	case SANDBOX_KILLED:
		return -ETIME;
	default:
		return -EIO;
	}
}

int profile_process_ask(const struct profile_question *question, struct profile_answer **ret)
{
	struct order order = {.question = question};
	int err;

	if (atomic_flag_test_and_set(&is_busy))
		return -EBUSY;
	order.answer = confined_alloc(sizeof(*order.answer));
	err = order.answer ? run(&order) : -ENOMEM;
	atomic_flag_clear(&is_busy);
	if (err)
		profile_process_free(order.answer);
	else
		*ret = order.answer;
	return err;
}

void profile_process_free(struct profile_answer *answer)
{
	confined_free(answer, sizeof(*answer));
}
