// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/talk.h"

static bool put_policy(struct control_message *message, const struct policy *policy)
{
	bool fits = true;

	for (size_t i = 0; fits && i < policy->set_count; i++)
		fits = control_put_set(message, &policy->sets[i]);
	for (size_t i = 0; fits && i < policy->count; i++)
		fits = control_put_rule(message, &policy->rules[i], NULL);
	return fits;
}

static bool put_all(struct control_message *message, const struct talk *talk)
{
	return (!talk->rule || control_put_rule(message, talk->rule, NULL)) &&
	       (!talk->set || control_put_set(message, talk->set)) &&
	       (!talk->policy || put_policy(message, talk->policy)) &&
	       (!talk->place || control_put_place(message, talk->place));
}

int talk(const struct talk *talk, const struct control_visitor *visitor)
{
	struct control_client *client = NULL;
	int err = control_client_open(false, &client);

	if (err)
		return command_refuse("no netlink socket: %s", strerror(-err));
	if (put_all(control_client_begin(client, talk->type, talk->flags), talk))
		err = control_client_ask(client, visitor);
	else
		err = policy_fail(visitor->error, -EMSGSIZE, "too much for one message");
	control_client_close(client);
	return err ? command_refuse("%s", visitor->error->text) : COMMAND_OK;
}

int talk_order(const struct talk *order)
{
	struct policy_error error = {};
	const struct control_visitor nothing = {.error = &error};

	return talk(order, &nothing);
}
