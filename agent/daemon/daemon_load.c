// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/interrupt.h"
#include "base/jobs.h"
#include "base/log.h"
#include "base/stop.h"
#include "daemon/daemon_inside.h"
#include "daemon/follow.h"
#include "daemon/tables.h"
#include "load/node.h"
#include "runtime/preload.h"

/* What is loaded side by side: the packet programs of each hook, and the probes. */
struct loading {
	struct daemon *daemon;
	const struct options *options;
	int (*then)(struct daemon *daemon, const struct options *options);
	struct sizes sizes;
	struct node_report report;
	int node_lock_fd;
	atomic_int hooks_left; /* to be loaded */
	atomic_int err;        /* of one that was not, -errno */
};

/* The program of one hook. */
struct loading_hook {
	struct loading *loading;
	enum hook hook;
};

static void log_programs(const struct daemon *daemon)
{
	const struct engine_origin *origin = &daemon->origin;

	if (origin->set_aside)
		log_warning("other-build",
			    "the pinned programs are of another build (%s): they stay and keep "
			    "translating, ours are attached beside them",
			    origin->why);
	log_info(origin->adopted ? "tables-adopted" : "tables-made", "%s %s, room for %u flows",
		 origin->adopted ? "adopted" : "made", daemon->pins.layer_dir, origin->flows);
}

static int open_packets(const struct loading *loading)
{
	const struct options *options = loading->options;
	struct daemon *daemon = loading->daemon;
	struct engine_options wanted = {.sizes = loading->sizes,
					.ignore_request_ids = options->ignore_request_ids,
					.http2 = options->http2,
					.paused = options->drain,
					.shared = wanted_any(&options->wanted)};

	return engine_open(&daemon->pins, daemon->cookie, &wanted, &daemon->engine,
			   &daemon->origin);
}

static int failed_to_load(int err)
{
	return daemon_failed("the BPF programs cannot be loaded (-v shows the verifier's words)",
			     err);
}

/* Both programs are there. */
static int begin_packets(struct loading *loading)
{
	int err = atomic_load(&loading->err);

	if (err == -ECANCELED || stop_asked())
		return -ECANCELED;
	if (!err)
		err = engine_finish(loading->daemon->engine);
	if (err)
		return failed_to_load(err);
	log_programs(loading->daemon);
	return loading->then(loading->daemon, loading->options);
}

/* Who has loaded the last one goes on, whoever it is: others are at the probes by then. */
static int load_hook(void *data)
{
	const struct loading_hook *own = data;
	struct loading *loading = own->loading;
	int err = engine_load(loading->daemon->engine, own->hook, FRAMING_ETHERNET);

	if (err)
		atomic_store(&loading->err, err);
	return atomic_fetch_sub(&loading->hooks_left, 1) > 1 ? 0 : begin_packets(loading);
}

static int load_probes(void *data)
{
	struct loading *loading = data;

	return node_start(take_fd(&loading->node_lock_fd), &loading->report);
}

/* What fails here is loaded when it is needed, or said then. */
static int load_runtimes(void *data)
{
	(void)data;
	return preload_first();
}

/* Without probes requests still get their header, each as a new trace. */
static void follow(const struct loading *loading, int err)
{
	if (err)
		log_warning("not-following",
			    "requests are not followed, each call begins a new trace: %s",
			    strerror(-err));
	else
		follow_log(&loading->report);
	loading->daemon->follows = !err && loading->report.follows;
}

/* Side by side, unless memory is short: loading takes more than anything after it. */
static void run_loads(struct job *jobs, size_t count, bool memory_is_short)
{
	if (!memory_is_short) {
		jobs_run(jobs, count);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		jobs_run(&jobs[i], 1);
		malloc_trim(0);
	}
}

/* The probes need the maps of the node; those of runtimes can wait. */
static size_t count_jobs(int node_err, const struct sizes *sizes)
{
	if (node_err)
		return HOOKS;
	return sizes->halved ? HOOKS + 1 : HOOKS + 2;
}

/* The packet path comes first: it is complete before the last probe is loaded. */
int daemon_load(struct daemon *daemon, const struct options *options,
		int (*then)(struct daemon *daemon, const struct options *options))
{
	struct loading loading = {.daemon = daemon,
				  .options = options,
				  .then = then,
				  .node_lock_fd = -1,
				  .hooks_left = HOOKS};
	struct loading_hook hooks[HOOKS] = {{&loading, HOOK_IN}, {&loading, HOOK_OUT}};
	int node_err, err = tables_choose(options, &loading.sizes);
	struct job jobs[] = {{.run = load_hook, .data = &hooks[0]},
			     {.run = load_hook, .data = &hooks[1]},
			     {.run = load_probes, .data = &loading},
			     {.run = load_runtimes}};
	struct interrupt interrupt;

	if (err)
		return daemon_failed("the BPF programs cannot be opened", err);
	node_err = node_open(&loading.sizes, &loading.report, &loading.node_lock_fd);
	err = open_packets(&loading);
	if (err)
		failed_to_load(err);
	if (!err) {
		interrupt_begin(&interrupt);
		run_loads(jobs, count_jobs(node_err, &loading.sizes), loading.sizes.halved);
		interrupt_end(&interrupt);
		err = jobs[0].err ? jobs[0].err : jobs[1].err;
	}
	cleanup_close(&loading.node_lock_fd);
	if (err)
		return err;
	tables_tell_adopted(&loading.sizes, daemon->origin.flows,
			    node_err ? loading.sizes.halved : loading.report.halved);
	daemon->memory_is_short = loading.sizes.halved;
	follow(&loading, node_err ? node_err : jobs[HOOKS].err);
	return 0;
}
