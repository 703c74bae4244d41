// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "profile/draw/flame_svg.h"
#include "web/api.h"
#include "web/api_store.h"
#include "web/profile_process.h"
#include "web/profile_question.h"

#define RETRY_SECONDS 1
#define SAY_AGAIN_NS  (60 * NS_PER_SECOND)

/* Why the process that reads has failed. */
static const char *failure(int err)
{
	switch (err) {
	case -EPERM:
		return "the process that read it made a forbidden system call and was ended";
	case -EIO:
		return "the process that read it crashed";
	case -EBADMSG:
		return "the process that read it gave a wrong reply";
	case -ENOSYS:
		return "the process that reads it cannot be confined here";
	default:
		return strerror(-err);
	}
}

/* Log a failure, but not again within SAY_AGAIN_NS: clients can repeat a request. */
static void log_failure(int err)
{
	static _Atomic(__u64) said_ns;
	const __u64 now_ns = clock_now_ns();
	__u64 before_ns = said_ns;

	if ((!before_ns || now_ns - before_ns > SAY_AGAIN_NS) &&
	    atomic_compare_exchange_strong(&said_ns, &before_ns, now_ns))
		log_warning("profile-unreadable", "the page cannot show the recorded profile: %s",
			    failure(err));
}

static void refuse(struct reply *reply, int err)
{
	if (err == -EBUSY) {
		reply->retry_seconds = RETRY_SECONDS;
		api_refuse(reply, 503, "another profile is being read; ask again");
	} else if (err == -ETIME) {
		api_refuse(reply, 503, "that takes too long; ask for less");
	} else {
		api_refuse(reply, 500, "the profile cannot be read: %s", failure(err));
		log_failure(err);
	}
}

static void give(struct reply *reply, const struct profile_question *question,
		 const struct profile_answer *answer)
{
	if (answer->status != 200) {
		api_refuse(reply, answer->status, "%.*s", (int)answer->size, answer->text);
		return;
	}
	buffer_add(&reply->body, answer->text, answer->size);
	reply->type = question->is_picture ? "image/svg+xml" : "application/json";
}

static void answer(const struct web_options *options, const struct request *request,
		   struct reply *reply, bool is_picture)
{
	struct profile_question question;
	struct profile_answer *said;
	int err;

	if (profile_question_read(options, request, reply, is_picture, &question))
		return;
	err = profile_process_ask(&question, &said);
	if (err) {
		refuse(reply, err);
		return;
	}
	give(reply, &question, said);
	profile_process_free(said);
}

void api_profile(const struct web_options *options, struct request *request, struct reply *reply)
{
	answer(options, request, reply, false);
}

void api_profile_picture(const struct web_options *options, struct request *request,
			 struct reply *reply)
{
	reply->policy = flame_svg_policy; /* what is refused is shown in the page's frame, too */
	answer(options, request, reply, true);
}
