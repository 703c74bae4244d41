// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/foreign.h"
#include "profile/draw/flame.h"
#include "profile/message/endpoints.h"
#include "web/profile_answer.h"

#define TITLE_MAX   1024
#define DAY_SECONDS 86400

/* Samples that a picture is of, or one side of it. */
struct part {
	const struct profile_question *question;
	const enum latency *bucket; /* NULL: any */
	bool of_requests;           /* only what belongs to one */
};

/* `wanted`: NULL, that is any. */
static bool is_text(const char *text, const char *wanted)
{
	return !wanted || !strcmp(text, wanted);
}

static bool takes(const struct message *message, const Perftools__Profiles__Sample *sample,
		  const void *data)
{
	const struct part *part = data;

	if (part->of_requests && !message_is_of_request(message, sample))
		return false;
	if (part->bucket && strcmp(message_label(message, sample, "latency_bucket"),
				   latency_name(*part->bucket)) != 0)
		return false;
	return is_text(message_label(message, sample, "endpoint"), part->question->endpoint) &&
	       is_text(message_label(message, sample, "service"), part->question->service);
}

/* 0, or -ENOENT: it was not measured. */
static int weigh(struct message *message, enum profile_of of, struct message_weight *ret)
{
	size_t waits, type;
	int err = message_type(message, of == PROFILE_OF_WAITS ? "offcpu" : "cpu", &type);

	/* Without waits, the time on the CPU could be mistaken for all of the time. */
	if (!err && of == PROFILE_OF_WALL)
		err = message_type(message, "offcpu", &waits);
	if (err)
		return err;
	*ret =
	    of == PROFILE_OF_WALL
		? message_by_time(message)
		: (struct message_weight){.message = message, .unit = "nanoseconds", .type = type};
	return 0;
}

/* The time of the day, UTC. gmtime_r() would read a file. */
static const char *clock_text(__s64 time_s, char buffer[16])
{
	const unsigned int second = (unsigned int)((__u64)time_s % DAY_SECONDS);

	snprintf(buffer, 16, "%02u:%02u:%02u", second / 3600, second / 60 % 60, second % 60);
	return buffer;
}

static void write_title(const struct profile_question *question, const struct windows_said *windows,
			char title[TITLE_MAX])
{
	const char *service = question->service ? question->service : "";
	const char *of = profile_of_title(question->of);
	const char *any =
	    question->all ? "all endpoints, and what belongs to no request" : "all endpoints";
	char which[64] = "", from[16], to[16], whole[TITLE_MAX];

	if (question->buckets == 1)
		snprintf(which, sizeof(which), ", %s", latency_name(question->bucket[0]));
	if (question->buckets == DIFF_SIDES)
		snprintf(which, sizeof(which), ", from %s to %s: red is more, blue is less",
			 latency_name(question->bucket[DIFF_BEFORE]),
			 latency_name(question->bucket[DIFF_AFTER]));
	snprintf(whole, sizeof(whole), "%.300s%s%.400s: %s%s, %s to %s UTC", service,
		 *service ? " " : "", question->endpoint ? question->endpoint : any, of, which,
		 clock_text(windows->time.from_s, from), clock_text(windows->time.to_s, to));
	/* What was asked for is in it, and may be cut. */
	foreign_copy(title, TITLE_MAX, whole);
}

/* A stream into the answer; a picture that is larger than that fails at its end. */
static void draw(const struct flame *root, const struct diff *diff, const char *title,
		 struct profile_answer *ret)
{
	FILE *out = fmemopen(ret->text, sizeof(ret->text), "w");
	long size = -1;

	if (out) {
		if (diff)
			diff_write_svg(diff, title, out);
		else
			flame_write_svg(root, FLAME_NS, title, out);
		if (!fflush(out) && !ferror(out))
			size = ftell(out);
		fclose(out);
	}
	ret->status = 200;
	ret->size = (size_t)size;
	if (size < 0)
		profile_answer_refuse(ret, 503,
				      "the picture is too large; ask for one endpoint or bucket");
}

static void draw_flame(const struct profile_question *question, const char *title,
		       struct message *message, struct profile_answer *ret)
{
	const struct part part = {question, question->buckets ? question->bucket : NULL,
				  !question->all && !question->endpoint &&
				      message_is_mixed(message)};
	struct message_weight weight;
	struct flame *root = NULL;
	struct message taken;

	if (!message_part(message, takes, &part, &taken) && !weigh(&taken, question->of, &weight))
		root = flame_of_message(&weight, true);
	if (root)
		draw(root, NULL, title, ret);
	else
		profile_answer_refuse(ret, 503, "that is too much; ask for less");
	flame_free(root);
}

/* The samples of one side. 0, or what it is that a difference cannot be made of. */
static int take_side(const struct profile_question *question, enum diff_side side,
		     struct message *message, struct message *taken, struct message_weight *ret)
{
	const struct part part = {question, &question->bucket[side], false};
	int err = message_part(message, takes, &part, taken);

	if (!err)
		err = weigh(taken, question->of, ret);
	return err || message_weigh_all(ret) ? err : -ENODATA;
}

static void draw_difference(const struct profile_question *question, const char *title,
			    struct message *message, struct profile_answer *ret)
{
	struct message_weight weight[DIFF_SIDES];
	struct message taken[DIFF_SIDES];
	struct diff diff;
	int err = 0;

	for (enum diff_side side = 0; !err && side < DIFF_SIDES; side++) {
		err = take_side(question, side, message, &taken[side], &weight[side]);
		if (err == -ENODATA)
			profile_answer_refuse(ret, 404, "there is nothing of %s to compare",
					      latency_name(question->bucket[side]));
	}
	if (err == -ENODATA)
		return;
	if (err || diff_new(weight, true, &diff)) {
		profile_answer_refuse(ret, 503, "that is too much; ask for less");
		return;
	}
	draw(NULL, &diff, title, ret);
	diff_free(&diff);
}

void profile_answer_picture(const struct profile_question *question,
			    const struct windows_said *windows, struct message *message,
			    struct profile_answer *ret)
{
	struct message_weight weight;
	char title[TITLE_MAX];

	if (weigh(message, question->of, &weight)) {
		profile_answer_refuse(ret, 404,
				      "%s was not measured: ctxpropd --profile HZ,off-cpu",
				      profile_of_title(question->of));
		return;
	}
	write_title(question, windows, title);
	if (question->buckets == DIFF_SIDES)
		draw_difference(question, title, message, ret);
	else
		draw_flame(question, title, message, ret);
}
