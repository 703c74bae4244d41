// SPDX-License-Identifier: Apache-2.0
#include <limits.h>
#include <string.h>

#include "base/log.h"
#include "context/runtime.h"
#include "daemon/runtimes_log.h"
#include "runtime/process.h"

static void log_failure(const struct runtimes_news *news, const char *name)
{
	const char *lost = news->kind == RUNTIME_OPAQUE ? "its calls begin new traces"
							: "only its threads are followed";

	log_warning("process %u (%s): no probes in it, %s: %s", news->tgid, name, lost,
		    strerror(-news->err));
}

void runtimes_log_lack(const char *runtime, int err)
{
	log_warning("no probes for programs in %s, the others are followed: %s", runtime,
		    strerror(-err));
}

static void log_unix_sockets(int err)
{
	if (err)
		log_warning("what goes over unix sockets is not followed: %s", strerror(-err));
	else
		log_info("following what goes over unix sockets, too");
}

static void log_share(__u32 tgid, const char *name)
{
	if (tgid)
		log_warning("process %u (%s) has reached its share of a table: some of its "
			    "requests are not followed (ctxprop doctor)",
			    tgid, name);
	else
		log_warning("a table of the node was full: some requests are not followed "
			    "(ctxprop doctor)");
}

void runtimes_log(const struct runtimes_news *news)
{
	char name[PATH_MAX];

	if (news->unix_sockets)
		return log_unix_sockets(news->err);
	process_name(name, sizeof(name), news->tgid);
	if (news->share)
		log_share(news->tgid, name);
	else if (news->refused)
		log_warning("process %u (%s): %s; its calls begin new traces, and its files are "
			    "not read again until they change (%u times so far)",
			    news->tgid, name, news->why, news->refused);
	else if (news->err)
		log_failure(news, name);
	else if (news->kind == RUNTIME_OPAQUE)
		log_warning("process %u (%s)%s%s, its calls begin new traces: %s", news->tgid, name,
			    news->language ? " runs " : "", news->language ? news->language : "",
			    news->why);
	else if (news->kind == RUNTIME_THREADS || (news->kind == RUNTIME_JAVA && news->why))
		log_info("process %u (%s) runs %s, only its threads are followed: %s", news->tgid,
			 name, news->language, news->why);
	else if (news->kind == RUNTIME_PYTHON)
		log_info("process %u (%s): following tasks and queues of Python 3.%u", news->tgid,
			 name, news->minor);
	else if (news->kind == RUNTIME_HAPROXY)
		log_info("process %u (%s): following streams of HAProxy", news->tgid, name);
	else if (news->kind == RUNTIME_JAVA)
		log_info("process %u (%s): following futures of Java", news->tgid, name);
	else if (news->kind == RUNTIME_TOKIO)
		log_info("process %u (%s) runs tasks of Rust (tokio, hyper): a call is only known "
			 "while its request is the only one of the process",
			 news->tgid, name);
	else if (news->kind == RUNTIME_RUBY)
		log_info(
		    "process %u (%s): following connections%s in the threads of Ruby %u.%u%s%s",
		    news->tgid, name, news->flags & RUNTIME_QUEUES ? " and queues" : "",
		    news->major, news->minor, news->why ? ": " : "", news->why ? news->why : "");
	else if (news->kind == RUNTIME_NODE)
		log_info(
		    "process %u (%s): following what Node reads, and the connections that it opens",
		    news->tgid, name);
	else if (news->flags & RUNTIME_COSTLY)
		log_info(
		    "process %u (%s): profilers are not shown its contexts for some minutes, its "
		    "goroutines change more than %d times a second",
		    news->tgid, name, RUNTIME_CHANGES_MAX);
	else
		log_info("process %u (%s): following goroutines of Go 1.%u%s", news->tgid, name,
			 news->minor, news->flags & RUNTIME_POOLS ? ", and its channels" : "");
}
