// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>

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

static int count_rule(const struct policy_rule *rule, const struct control_about *about, void *data)
{
	struct talk_daemon *daemon = data;

	(void)rule;
	daemon->rules += !about->builtin;
	return 0;
}

int talk_find_daemon(struct talk_daemon *ret, struct policy_error *error)
{
	const struct control_visitor visitor = {.on_rule = count_rule, .data = ret, .error = error};
	struct control_client *client = NULL;
	int err = control_client_open(false, &client, error);

	*ret = (struct talk_daemon){};
	if (err)
		return err;
	control_client_begin(client, CONTROL_RULE_GET, NLM_F_DUMP);
	err = control_client_ask(client, &visitor);
	ret->pid = control_client_daemon(client);
	control_client_close(client);
	return err;
}

static int take_store(const struct control_store *store, void *data)
{
	*(struct control_store *)data = *store;
	return 0;
}

int talk_find_store(struct control_store *ret, pid_t *ret_pid, struct policy_error *error)
{
	const struct control_visitor visitor = {
	    .on_store = take_store, .data = ret, .error = error};
	struct control_client *client = NULL;
	int err = control_client_open(false, &client, error);

	*ret = (struct control_store){};
	if (err)
		return err;
	control_client_begin(client, CONTROL_STORE_GET, NLM_F_DUMP);
	err = control_client_ask(client, &visitor);
	*ret_pid = control_client_daemon(client);
	control_client_close(client);
	return err;
}

/*
 * Does the request apply to all network namespaces of a daemon? Others only read, or name one
 * namespace.
 */
static bool is_for_all(__u16 type)
{
	return type != CONTROL_RULE_GET && type != CONTROL_SET_GET && type != CONTROL_ATTACH &&
	       type != CONTROL_DETACH;
}

/* Complain, and name the namespace where the request is accepted. -EPERM, or why the daemon does
 * not answer. */
static int refuse_from_away(struct policy_error *error)
{
	struct talk_daemon daemon;
	char own[32] = "";
	int err = talk_find_daemon(&daemon, error);

	if (err)
		return err;
	/* A process of another process namespace has no number here. */
	if (daemon.pid)
		snprintf(own, sizeof(own), ": ctxprop --netns %d", daemon.pid);
	return policy_fail(error, -EPERM,
			   "this would apply to all network namespaces of the same ctxpropd; run "
			   "it in the daemon's own%s",
			   own);
}

static int talk_with(struct control_client *client, const struct talk *talk,
		     const struct control_visitor *visitor)
{
	if (control_client_is_away(client) && is_for_all(talk->type))
		return refuse_from_away(visitor->error);
	if (!put_all(control_client_begin(client, talk->type, talk->flags), talk))
		return policy_fail(visitor->error, -EMSGSIZE, "too much for one message");
	return control_client_ask(client, visitor);
}

int talk(const struct talk *talk, const struct control_visitor *visitor)
{
	struct control_client *client = NULL;
	int err = control_client_open(false, &client, visitor->error);

	if (!err)
		err = talk_with(client, talk, visitor);
	control_client_close(client);
	return err ? command_refuse("%s", visitor->error->text) : COMMAND_OK;
}

int talk_order(const struct talk *order)
{
	struct policy_error error = {};
	const struct control_visitor nothing = {.error = &error};

	return talk(order, &nothing);
}

void talk_tell(__u16 type)
{
	struct control_client *client = NULL;
	struct policy_error error;

	if (control_client_open(false, &client, &error))
		return;
	control_client_begin(client, type, 0);
	control_client_tell(client, &error);
	control_client_close(client);
}
