// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/policy_show.h"
#include "control/client.h"
#include "control/prefix.h"

/* What the notification at hand says; its type is known only behind its contents. */
struct news {
	struct policy_rule rule;
	struct policy_set set;
	struct policy_prefix prefixes[POLICY_PREFIXES_MAX];
	struct control_place place;
	__u32 left;
	bool has_rule, has_set, has_place, has_left;
};

static int note_rule(const struct policy_rule *rule, bool builtin, void *data)
{
	struct news *news = data;

	(void)builtin;
	news->rule = *rule;
	news->has_rule = true;
	return 0;
}

static int note_set(const struct policy_set *set, void *data)
{
	struct news *news = data;

	news->set = *set;
	news->set.prefixes = news->prefixes;
	memcpy(news->prefixes, set->prefixes, set->count * sizeof(*set->prefixes));
	news->has_set = true;
	return 0;
}

static int note_place(const struct control_place *place, void *data)
{
	struct news *news = data;

	news->place = *place;
	news->has_place = true;
	return 0;
}

static int note_left(__u32 left, void *data)
{
	struct news *news = data;

	news->left = left;
	news->has_left = true;
	return 0;
}

static void print_place(const char *what, const struct control_place *place)
{
	printf("%s", what);
	if (place->device[0])
		printf(" %s", place->device);
	if (place->netns)
		printf(" netns:%llx", (unsigned long long)place->netns);
	putchar('\n');
}

static void print_drain(const struct news *news)
{
	if (news->has_left && news->left)
		printf("draining, %u left\n", news->left);
	else
		printf(news->has_left ? "drained\n" : "drain given up\n");
}

static void print_networks(const struct policy_set *set)
{
	char text[POLICY_PREFIX_TEXT_MAX];

	for (size_t i = 0; i < set->count; i++)
		printf(" %s", prefix_text(text, &set->prefixes[i]));
	putchar('\n');
}

static void print_news(__u16 type, const struct news *news)
{
	if (type == CONTROL_RULE_NEW && news->has_rule) {
		policy_show_rule(&news->rule, false);
	} else if (type == CONTROL_RULE_DELETE && news->has_rule) {
		printf("deleted %u\n", news->rule.prio);
	} else if (type == CONTROL_SET_NEW && news->has_set) {
		printf("set %s add", news->set.name);
		print_networks(&news->set);
	} else if (type == CONTROL_SET_DELETE && news->has_set) {
		printf("set %s %s", news->set.name, news->set.count ? "del" : "flush");
		print_networks(&news->set);
	} else if (type == CONTROL_RULE_FLUSH) {
		printf("flushed\n");
	} else if (type == CONTROL_RESTORE) {
		printf("restored\n");
	} else if (type == CONTROL_ATTACH && news->has_place) {
		print_place("attached", &news->place);
	} else if (type == CONTROL_DETACH && news->has_place) {
		print_place("detached", &news->place);
	} else if (type == CONTROL_DRAIN) {
		print_drain(news);
	}
	fflush(stdout);
}

static int listen_on(struct control_client *client)
{
	static struct news news;
	struct policy_error error = {};
	const struct control_visitor visitor = {.on_rule = note_rule,
						.on_set = note_set,
						.on_place = note_place,
						.on_left = note_left,
						.data = &news,
						.error = &error};
	__u16 type;
	int err;

	for (;;) {
		news.has_rule = news.has_set = news.has_place = news.has_left = false;
		err = control_client_listen(client, &visitor, &type);
		if (err == -ENOBUFS)
			printf("some news were lost\n");
		else if (err)
			return command_refuse("monitor: %s", error.text);
		else
			print_news(type, &news);
		if (ferror(stdout))
			return COMMAND_REFUSED;
	}
}

int command_monitor(const struct pins *pins, const struct command_flags *flags)
{
	struct control_client *client = NULL;
	int err = control_client_open(true, &client), status;

	(void)pins;
	(void)flags;
	if (err)
		return command_refuse("monitor: %s",
				      err == -EPERM ? "only with CAP_NET_ADMIN" : strerror(-err));
	status = listen_on(client);
	control_client_close(client);
	return status;
}
