// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "inspect/sandbox.h"
#include "inspect/confined.h"
#include "web/patience.h"
#include "web/profile_process.h"

#define PATIENCE_NS (5 * NS_PER_SECOND)
#define LOOK_MS     100

static const struct sandbox_limits limits = {.cpu_seconds = 5, .data_bytes = 512UL << 20};

struct order {
	const struct profile_question *question;
	struct profile_answer *answer; /* in memory that both processes have */
};

static atomic_flag is_busy = ATOMIC_FLAG_INIT;
static atomic_ulong ends[PROFILE_ENDS];

/* Runs in the process of its own, since windows may contain what others wrote. */
static int work(int socket, void *data)
{
	const struct order *order = data;
	struct windows_opened opened;
	int err;

	(void)socket;
	profile_answer_open(order->question, &opened);
	err = sandbox_confine();
	if (!err)
		profile_answer(order->question, &opened, order->answer);
	windows_close(&opened);
	return err;
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
	} while (end == SANDBOX_RUNS && clock_now_ns() < until_ns && !patience_has_ended());
	return end;
}

/* The process may have been compromised, and may have written anything. */
static int check(const struct profile_answer *answer)
{
	static const unsigned int known[] = {200, 404, 500, 503};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (answer->status == known[i] && answer->size <= PROFILE_ANSWER_MAX)
			return 0;
	return -EBADMSG;
}

static int run(struct order *order)
{
	_cleanup_sandbox_ struct sandbox sandbox = SANDBOX_NONE;
	int err = sandbox_start_within(&limits, work, order, &sandbox);

	if (err)
		return err;
	switch (wait_for(&sandbox)) {
	case SANDBOX_DONE:
		return check(order->answer);
	case SANDBOX_RUNS:
	case SANDBOX_TOO_LONG:
	case SANDBOX_KILLED:
		return -ETIME;
	case SANDBOX_FORBIDDEN:
		return -EPERM;
	case SANDBOX_GAVE_UP:
		return -ENOSYS;
	default:
		return -EIO;
	}
}

static int run_alone(struct order *order)
{
	int err;

	if (atomic_flag_test_and_set(&is_busy))
		return -EBUSY;
	order->answer = confined_alloc(sizeof(*order->answer));
	err = order->answer ? run(order) : -ENOMEM;
	atomic_flag_clear(&is_busy);
	return err;
}

static enum profile_end end_of(int err)
{
	switch (err) {
	case 0:
		return PROFILE_ANSWERED;
	case -EBUSY:
		return PROFILE_BUSY;
	case -ETIME:
		return PROFILE_TOO_LONG;
	default:
		return PROFILE_FAILED;
	}
}

int profile_process_ask(const struct profile_question *question, struct profile_answer **ret)
{
	struct order order = {.question = question};
	int err = run_alone(&order);

	atomic_fetch_add(&ends[end_of(err)], 1);
	if (err)
		profile_process_free(order.answer);
	else
		*ret = order.answer;
	return err;
}

unsigned long profile_process_count(enum profile_end end)
{
	return atomic_load(&ends[end]);
}

void profile_process_free(struct profile_answer *answer)
{
	confined_free(answer, sizeof(*answer));
}
