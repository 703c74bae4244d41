// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "profile/keep/windows.h"
#include "trace/query_words.h"
#include "web/api_store.h"
#include "web/profile_question.h"

#define LAST_NS (600 * NS_PER_SECOND)

static const struct {
	const char *name, *title;
} kinds[] = {
    [PROFILE_OF_CPU] = {"cpu", "CPU time"},
    [PROFILE_OF_WAITS] = {"waits", "time off the CPU"},
    [PROFILE_OF_WALL] = {"wall", "wall-clock time"},
};

const char *profile_of_title(enum profile_of of)
{
	return kinds[of].title;
}

static int refuse(struct reply *reply, const char *name, const char *wanted)
{
	api_refuse(reply, 400, "%s: expected %s", name, wanted);
	return -EINVAL;
}

static int read_of(const struct request *request, struct reply *reply, enum profile_of *ret)
{
	const char *of = request_parameter(request, "of");

	*ret = PROFILE_OF_CPU;
	if (!of)
		return 0;
	for (enum profile_of i = PROFILE_OF_CPU; i <= PROFILE_OF_WALL; i++)
		if (!strcmp(of, kinds[i].name)) {
			*ret = i;
			return 0;
		}
	return refuse(reply, "of", "cpu, waits or wall");
}

/* A parameter that may be there. */
static int read_bucket(const struct request *request, struct reply *reply, const char *name,
		       struct profile_question *question)
{
	const char *bucket = request_parameter(request, name);

	if (!bucket)
		return 0;
	if (latency_parse(bucket, &question->bucket[question->buckets]))
		return refuse(reply, name, "p50, p90, p99 or max");
	question->buckets++;
	return 0;
}

/* One of them is looked at, or two are compared. */
static int read_buckets(const struct request *request, struct reply *reply,
			struct profile_question *question)
{
	const bool has_one = request_parameter(request, "bucket");
	const bool has_from = request_parameter(request, "from_bucket");
	const bool has_to = request_parameter(request, "to_bucket");

	if (has_from != has_to)
		return refuse(reply, has_from ? "from_bucket" : "to_bucket",
			      "from_bucket and to_bucket together");
	if (has_one && has_from)
		return refuse(reply, "bucket", "either this, or from_bucket and to_bucket");
	if (read_bucket(request, reply, "bucket", question) ||
	    read_bucket(request, reply, "from_bucket", question) ||
	    read_bucket(request, reply, "to_bucket", question))
		return -EINVAL;
	return 0;
}

static int read_all(const struct request *request, struct reply *reply, bool *ret)
{
	const char *all = request_parameter(request, "all");

	*ret = all && !strcmp(all, "1");
	return all && strcmp(all, "0") != 0 && !*ret ? refuse(reply, "all", "0 or 1") : 0;
}

int profile_question_read(const struct web_options *options, const struct request *request,
			  struct reply *reply, bool is_picture, struct profile_question *ret)
{
	__u64 last_ns;

	*ret = (struct profile_question){.is_picture = is_picture};
	if (api_last(request, reply, LAST_NS, &last_ns))
		return -EINVAL;
	ret->to_s = query_now_ns() / (__s64)NS_PER_SECOND + 1;
	ret->from_s = (query_now_ns() - (__s64)last_ns) / (__s64)NS_PER_SECOND;
	if (is_picture) {
		ret->service = request_parameter(request, "service");
		ret->endpoint = request_parameter(request, "endpoint");
		if (read_of(request, reply, &ret->of) || read_all(request, reply, &ret->all) ||
		    read_buckets(request, reply, ret))
			return -EINVAL;
	}
	if (options->store && !windows_folder(options->store, ret->folder))
		return 0;
	api_refuse(reply, 503, "there is no store (--store none), and no profile beside it");
	return -EINVAL;
}
