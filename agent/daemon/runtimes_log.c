// SPDX-License-Identifier: Apache-2.0
#include <limits.h>
#include <string.h>

#include "base/log.h"
#include "runtimes/runtime.h"
#include "daemon/runtimes_log.h"
#include "inspect/process.h"

static void log_failure(const struct runtimes_news *news, const char *name)
{
	const char *lost = news->kind == RUNTIME_OPAQUE ? "its calls begin new traces"
							: "only its threads are followed";

	log_warning("process-failed", "process %u (%s): cannot place probes in it, %s: %s",
		    news->tgid, name, lost, strerror(-news->err));
}

void runtimes_log_lack(const char *runtime, int err)
{
	log_warning("runtime-failed", "no probes for programs in %s, all others are followed: %s",
		    runtime, strerror(-err));
}

static void log_unix_sockets(int err)
{
	if (err)
		log_warning("unix-sockets-failed",
			    "requests are not followed over unix sockets: %s", strerror(-err));
	else
		log_info("unix-sockets", "following requests over unix sockets, too");
}

/* By probes at each change, or only while it takes a sample. */
static void log_reader(const struct publish *publish)
{
	const struct trace_reader *reader = &publish->reader;

	if (publish->state == NODE_PUBLISH_SAMPLED)
		log_info("publishing-samples",
			 "program %u (%.*s) reads traces_ctx_v1: contexts of threads, goroutines, "
			 "tasks and event loops are published whenever it takes a sample",
			 reader->id, TRACE_READER_NAME, reader->name);
	else
		log_info("publishing-switches",
			 "program %u (%.*s) reads traces_ctx_v1: contexts of goroutines, tasks and "
			 "greenlets are published, too, by probes%s%s",
			 reader->id, TRACE_READER_NAME, reader->name,
			 publish->moments_err ? ", as its samples cannot be met: " : "",
			 publish->moments_err ? strerror(-publish->moments_err) : "");
}

static void log_publish(const struct publish *publish)
{
	if (publish->state == NODE_PUBLISH_READ || publish->state == NODE_PUBLISH_SAMPLED)
		log_reader(publish);
	else if (publish->state == NODE_PUBLISH_BLIND)
		log_warning(
		    "publish-unknown",
		    "cannot tell whether a program reads traces_ctx_v1: contexts of goroutines, "
		    "tasks and greenlets are published only with --publish always: %s",
		    strerror(-publish->err));
	else
		log_info("publish-ended",
			 "no other program reads traces_ctx_v1 any more: contexts of goroutines, "
			 "tasks and greenlets are no longer published");
}

static void log_share(__u32 tgid, const char *name)
{
	if (tgid)
		log_warning("share-reached",
			    "process %u (%s) has reached its share of a table: some of its "
			    "requests are not followed (ctxprop doctor)",
			    tgid, name);
	else
		log_warning("table-full", "a table of the node was full: some requests are not "
					  "followed (ctxprop doctor)");
}

void runtimes_log(const struct runtimes_news *news)
{
	char name[PATH_MAX];

	if (news->preloaded)
		return log_info("probes-loaded",
				"the probes for programs of all runtimes are loaded");
	if (news->unix_sockets)
		return log_unix_sockets(news->err);
	if (news->publish)
		return log_publish(news->publish);
	process_name(name, sizeof(name), news->tgid);
	if (news->share)
		log_share(news->tgid, name);
	else if (news->refused)
		log_warning("process-refused",
			    "process %u (%s): %s; its calls begin new traces, and its files are "
			    "not read again until they change (%u times so far)",
			    news->tgid, name, news->why, news->refused);
	else if (news->err)
		log_failure(news, name);
	else if (news->kind == RUNTIME_OPAQUE)
		log_warning("process-unknown",
			    "process %u (%s)%s%s, its calls begin new traces: %s", news->tgid, name,
			    news->language ? " runs " : "", news->language ? news->language : "",
			    news->why);
	else if (news->follows[0])
		log_info("process-followed", "process %u (%s): %s", news->tgid, name,
			 news->follows);
	else
		log_info("process-threads-only",
			 "process %u (%s) runs %s, only its threads are followed: %s", news->tgid,
			 name, news->language, news->why);
}
