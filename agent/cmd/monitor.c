// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/policy_show.h"
#include "cmd/talk.h"
#include "control/client.h"
#include "control/prefix.h"

#define NS_PER_MS (NS_PER_SECOND / 1000)

/* The notification that is being read; its type is known only after its contents. */
struct news {
	struct policy_rule rule;
	struct policy_set set;
	struct policy_prefix prefixes[POLICY_PREFIXES_MAX];
	struct control_place place;
	__u32 left;
	bool has_rule, has_set, has_place, has_left;
};

static int note_rule(const struct policy_rule *rule, const struct control_about *about, void *data)
{
	struct news *news = data;

	(void)about;
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

static json_int_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (json_int_t)now.tv_sec * 1000 + now.tv_nsec / (long)NS_PER_MS;
}

/* The time of arrival, by the local clock. */
static void print_time(void)
{
	char text[32];
	struct timespec now;
	struct tm local;

	clock_gettime(CLOCK_REALTIME, &now);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", localtime_r(&now.tv_sec, &local));
	printf("%s.%03ld  ", text, now.tv_nsec / (long)NS_PER_MS);
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

/* What happened, in one word. */
static const char *event_of(__u16 type, const struct news *news)
{
	switch (type) {
	case CONTROL_RULE_NEW:
		return "rule";
	case CONTROL_RULE_DELETE:
		return "rule-deleted";
	case CONTROL_SET_NEW:
		return "set-added";
	case CONTROL_SET_DELETE:
		return news->has_set && news->set.count ? "set-deleted" : "set-flushed";
	case CONTROL_RULE_FLUSH:
		return "flushed";
	case CONTROL_RESTORE:
		return "restored";
	case CONTROL_ATTACH:
		return "attached";
	case CONTROL_DETACH:
		return "detached";
	case CONTROL_PAUSED:
		return "paused";
	case CONTROL_RESUMED:
		return "resumed";
	case CONTROL_DRAIN:
		return !news->has_left ? "drain-given-up" : news->left ? "draining" : "drained";
	default:
		return "news of another build";
	}
}

static void print_news(__u16 type, const struct news *news)
{
	print_time();
	if ((type == CONTROL_RULE_NEW || type == CONTROL_RULE_DELETE) && news->has_rule) {
		printf("%s", type == CONTROL_RULE_DELETE ? "deleted " : "");
		policy_show_rule(&news->rule, false);
		putchar('\n');
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
	} else {
		printf("%s\n", event_of(type, news));
	}
	fflush(stdout);
}

static void put_place(json_t *document, const struct control_place *place)
{
	char netns[2 * sizeof(place->netns) + 1];

	snprintf(netns, sizeof(netns), "%llx", (unsigned long long)place->netns);
	if (place->device[0])
		json_object_set_new(document, "dev", json_string(place->device));
	if (place->netns)
		json_object_set_new(document, "netns", json_string(netns));
}

/* One document per line. */
static void print_news_json(__u16 type, const struct news *news)
{
	json_t *document =
	    json_pack("{ss, sI}", "event", event_of(type, news), "time_ms", now_ms());

	if (news->has_rule)
		json_object_set_new(document, "rule", policy_rule_json(&news->rule, false));
	if (type == CONTROL_RULE_DELETE && news->has_rule)
		json_object_set_new(document, "prio", json_integer(news->rule.prio));
	if (news->has_set)
		json_object_set_new(document, "set", policy_set_json(&news->set));
	if (news->has_place)
		put_place(document, &news->place);
	if (news->has_left)
		json_object_set_new(document, "left", json_integer(news->left));
	json_print(document);
	fflush(stdout);
}

static void print_loss(const struct command_flags *flags)
{
	if (flags->json) {
		json_print(json_pack("{ss, sI}", "event", "lost", "time_ms", now_ms()));
	} else {
		print_time();
		printf("some news were lost\n");
	}
	fflush(stdout);
}

static int listen_on(struct control_client *client, const struct command_flags *flags)
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
			print_loss(flags);
		else if (err)
			return command_refuse("monitor: %s", error.text);
		else if (flags->json)
			print_news_json(type, &news);
		else
			print_news(type, &news);
		if (ferror(stdout))
			return COMMAND_REFUSED;
	}
}

/* It may be started before the daemon, so it waits for one. */
static void warn_of_nobody(void)
{
	struct policy_error error = {};
	struct talk_daemon daemon;

	if (talk_find_daemon(&daemon, &error) == -ECONNREFUSED)
		command_refuse("monitor: no ctxpropd answers in this network namespace; waiting "
			       "until one is started");
}

int command_monitor(const struct pins *pins, const struct command_flags *flags)
{
	struct control_client *client = NULL;
	struct policy_error error = {};
	int status;

	(void)pins;
	if (control_client_open(true, &client, &error))
		return command_refuse("monitor: %s", error.text);
	warn_of_nobody();
	status = listen_on(client, flags);
	control_client_close(client);
	return status;
}
