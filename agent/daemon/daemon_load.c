// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <malloc.h>
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

/* What is loaded side by side: the packet programs, and the probes. */
struct loading {
	struct daemon *daemon;
	const struct options *options;
	int (*then)(struct daemon *daemon, const struct options *options);
	struct sizes sizes;
	struct node_report report;
	int node_lock_fd;
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

static int load_programs(const struct loading *loading)
{
	const struct options *options = loading->options;
	struct daemon *daemon = loading->daemon;
	struct engine_options wanted = {.sizes = loading->sizes,
					.ignore_request_ids = options->ignore_request_ids,
					.paused = options->drain,
					.shared = wanted_any(&options->wanted)};

	return engine_open(&daemon->pins, daemon->cookie, &wanted, &daemon->engine,
			   &daemon->origin);
}

/* The packet path comes first: it is complete before the last probe is loaded. */
static int begin_packets(void *data)
{
	const struct loading *loading = data;
	int err = load_programs(loading);

	if (err == -ECANCELED || stop_asked())
		return -ECANCELED;
	if (err)
		return daemon_failed(
		    "the BPF programs cannot be loaded (-v shows the verifier's words)", err);
	log_programs(loading->daemon);
	return loading->then(loading->daemon, loading->options);
}

static int load_probes(void *data)
{
	struct loading *loading = data;

	return node_start(take_fd(&loading->node_lock_fd), &loading->report);
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

int daemon_load(struct daemon *daemon, const struct options *options,
		int (*then)(struct daemon *daemon, const struct options *options))
{
	struct loading loading = {
	    .daemon = daemon, .options = options, .then = then, .node_lock_fd = -1};
	int node_err, err = tables_choose(options, &loading.sizes);
	struct job jobs[] = {{.run = begin_packets, .data = &loading},
			     {.run = load_probes, .data = &loading}};
	struct interrupt interrupt;

	if (err)
		return daemon_failed("the BPF programs cannot be opened", err);
	node_err = node_open(&loading.sizes, &loading.report, &loading.node_lock_fd);
	interrupt_begin(&interrupt);
	run_loads(jobs, node_err ? 1 : 2, loading.sizes.halved);
	interrupt_end(&interrupt);
	cleanup_close(&loading.node_lock_fd);
	err = jobs[0].err;
	if (err)
		return err;
	tables_tell_adopted(&loading.sizes, daemon->origin.flows,
			    node_err ? loading.sizes.halved : loading.report.halved);
	follow(&loading, node_err ? node_err : jobs[1].err);
	return 0;
}
