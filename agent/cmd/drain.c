// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/talk.h"
#include "load/removal.h"

/* How far a drain is. */
struct progress {
	unsigned long left, shown;
	bool told; /* by the notification at hand */
	bool json;
};

static void show(struct progress *progress, unsigned long left)
{
	if (left == progress->shown)
		return;
	progress->shown = left;
	if (progress->json)
		json_print(json_pack("{sI}", "left", (json_int_t)left));
	else
		printf("%lu connection%s left\n", left, left == 1 ? "" : "s");
	fflush(stdout);
}

static int note_left(__u32 left, void *data)
{
	struct progress *progress = data;

	progress->left = left;
	progress->told = true;
	return 0;
}

/* Show the daemon's progress until its end. */
static int watch(struct control_client *client, bool json)
{
	struct progress progress = {.json = json};
	struct policy_error error = {};
	const struct control_visitor visitor = {
	    .on_left = note_left, .data = &progress, .error = &error};

	for (;;) {
		__u16 type = 0;
		int err;

		progress.told = false;
		err = control_client_listen(client, &visitor, &type);
		/* The number is sent again if it was lost; other notifications are ignored. */
		if (err == -ENOBUFS || (type && type != CONTROL_DRAIN))
			continue;
		if (err)
			return command_refuse("drain: %s", error.text);
		if (!progress.told)
			return command_refuse("drain: given up, editing was switched on again");
		show(&progress, progress.left);
		if (!progress.left)
			return COMMAND_OK;
	}
}

static int drain_by_daemon(bool json)
{
	static const struct talk order = {.type = CONTROL_DRAIN};
	struct control_client *client = NULL;
	struct policy_error error = {};
	int status;

	/* Listen first: the end must not be missed. */
	if (control_client_open(true, &client, &error))
		return command_refuse("drain: %s", error.text);
	status = talk_order(&order);
	if (status == COMMAND_OK)
		status = watch(client, json);
	control_client_close(client);
	return status;
}

/* Without a daemon: what is pinned for this namespace. */
static int drain_pins(const struct pins *pins, bool json)
{
	static const struct timespec second = {.tv_sec = 1};
	struct progress progress = {.json = json};
	struct damage damage;
	int empty = 0;

	/* Count twice: a packet may have been on its way the first time. */
	for (;;) {
		int err = removal_assess(pins, &damage);

		if (err)
			return command_refuse("the flow table cannot be read: %s", strerror(-err));
		if (damage.unknown)
			return command_refuse("%u layers of another build cannot be read here; use "
					      "the ctxprop of that build",
					      damage.unknown);
		show(&progress, damage.shifted);
		empty = damage.shifted ? 0 : empty + 1;
		if (empty == 2)
			return command_remove_all(pins);
		nanosleep(&second, NULL);
	}
}

int command_drain(const struct pins *pins, const struct command_flags *flags)
{
	_cleanup_close_ int lock = pins_lock_existing(pins);
	int status;

	if (lock < 0 && lock != -EWOULDBLOCK)
		return command_refuse_pins(pins, lock);
	status = lock < 0 ? drain_by_daemon(flags->json) : drain_pins(pins, flags->json);
	if (status == COMMAND_OK && !flags->json)
		puts("drained: everything of ctxprop is removed");
	return status;
}
