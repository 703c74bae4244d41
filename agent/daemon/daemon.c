// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/notify.h"
#include "base/privileges.h"
#include "base/resident.h"
#include "daemon/daemon.h"
#include "daemon/daemon_inside.h"
#include "load/table.h"
#include "load/control.h"
#include "runtime/uprobe.h"

/* Programs that run already are known when the daemon is ready, unless it takes longer. */
#define SETTLE_MS 2000

/* Returns 1 after a signal to stop. */
static int handle_signal(struct daemon *daemon)
{
	struct signalfd_siginfo signal;

	if (read(daemon->signal_fd, &signal, sizeof(signal)) != sizeof(signal))
		return 0;
	if (signal.ssi_signo != SIGHUP)
		return 1;
	policies_reload(&daemon->policies);
	traces_reload(&daemon->traces);
	return 0;
}

/*
 * One round of waiting: a turn ends with it and the next one begins. Returns 1 after a signal to
 * stop, 0 to go on, or -errno.
 */
static int wait_for_news(struct daemon *daemon, int timeout_ms)
{
	struct pollfd fds[] = {
	    {.fd = daemon->signal_fd, .events = POLLIN},
	    {.fd = sites_fd(daemon->sites), .events = POLLIN},
	    {.fd = control_server_fd(daemon->requests.server), .events = POLLIN},
	    {.fd = recorder_process_fd(&daemon->recorder), .events = POLLIN},
	};
	int err;

	watchdog_end(&daemon->watchdog, timeout_ms);
	if (poll(fds, sizeof(fds) / sizeof(fds[0]), timeout_ms) < 0)
		return errno == EINTR ? 0 : -errno;
	watchdog_begin(&daemon->watchdog, "the policy");
	if (fds[0].revents && handle_signal(daemon))
		return 1;
	watchdog_mark(&daemon->watchdog, "news of devices");
	err = fds[1].revents ? sites_update(daemon->sites) : 0;
	watchdog_mark(&daemon->watchdog, "requests of ctxprop");
	if (fds[2].revents)
		control_server_read(daemon->requests.server);
	watchdog_mark(&daemon->watchdog, "the recorder of profiles");
	if (fds[3].revents)
		recorder_process_look(&daemon->recorder);
	watchdog_mark(&daemon->watchdog, "names of devices and cgroups");
	policies_refresh(&daemon->policies);
	return err;
}

/* What is due by the clock. Returns the milliseconds until there is more to do. */
static int do_what_is_due(struct daemon *daemon)
{
	int due_ms[5], first_ms;

	watchdog_mark(&daemon->watchdog, "counters and dead flows");
	due_ms[0] = first_ms = upkeep_do(&daemon->upkeep);
	watchdog_mark(&daemon->watchdog, "network namespaces");
	due_ms[1] = sites_look(daemon->sites);
	watchdog_mark(&daemon->watchdog, "draining");
	due_ms[2] = drain_do(&daemon->drain, &daemon->drained);
	watchdog_mark(&daemon->watchdog, "connections for the log");
	due_ms[3] = flow_log_do(daemon->flow_log);
	watchdog_mark(&daemon->watchdog, "the recorder of profiles");
	due_ms[4] = recorder_process_do(&daemon->recorder);

	/* -1: never. */
	for (size_t i = 1; i < sizeof(due_ms) / sizeof(due_ms[0]); i++)
		if (due_ms[i] >= 0 && due_ms[i] < first_ms)
			first_ms = due_ms[i];
	return daemon->drained ? 0 : first_ms;
}

static int run(struct daemon *daemon)
{
	int news = 0, err = watchdog_start();

	if (err)
		log_warning("watchdog-failed",
			    "no watchdog, a stalled main loop will not be logged: %s",
			    strerror(-err));
	watchdog_begin(&daemon->watchdog, "the start");
	while (!news && !daemon->drained)
		news = wait_for_news(daemon, do_what_is_due(daemon));
	watchdog_end(&daemon->watchdog, -1);
	return news < 0 ? daemon_failed("waiting for news", news) : 0;
}

/* All is attached: what comes now needs less than what was before. */
static void drop_rights(bool enters_netns, bool names_kernel)
{
	bool admin = false;
	int err = privileges_drop(enters_netns, !uprobe_has_links(), names_kernel, &admin);

	if (err)
		log_warning("capabilities-kept",
			    "cannot drop capabilities that are no longer needed: %s",
			    strerror(-err));
	if (admin && !enters_netns)
		log_info("cap-sys-admin-kept",
			 "keeping CAP_SYS_ADMIN: this kernel requires it for uprobes");
}

static void begin_to_follow(struct daemon *daemon, enum publish_mode publish)
{
	int err = daemon->follows
		      ? follower_start(publish, daemon->memory_is_short, &daemon->follower)
		      : 0;

	if (err)
		log_warning("uprobes-failed",
			    "no probes in programs, so calls made by goroutines and Python tasks "
			    "begin new traces: %s",
			    strerror(-err));
}

static void be_ready(const struct daemon *daemon, bool enters_netns)
{
	size_t count = sites_devices(daemon->sites), sites = sites_count(daemon->sites);

	if (enters_netns)
		log_info("ready", "ready: %zu devices in %zu network namespaces", count, sites);
	else
		log_info("ready", "ready: %zu device%s", count, count == 1 ? "" : "s");
	notify_manager("READY=1");
}

/* Stop editing, and say what stays. */
static void leave(struct daemon *daemon)
{
	unsigned long total = 0, shifted = 0;
	int err = control_set_paused(daemon->pins.layer_dir, true);

	notify_manager("STOPPING=1");
	if (!err)
		err =
		    table_count(engine_flows_fd(daemon->engine), TABLE_ANYWHERE, &total, &shifted);
	if (err)
		daemon_failed("stopping to edit", err);
	else
		log_info("stopped",
			 "editing stopped; %lu live connections still need the pinned programs, "
			 "which translate their sequence numbers; `ctxprop drain` waits for them "
			 "and removes the programs, `ctxprop detach` removes the programs when no "
			 "connection needs them",
			 shifted);
}

static void close_all(struct daemon *daemon)
{
	traces_end(&daemon->traces);
	flow_log_free(daemon->flow_log);
	recorder_process_end(&daemon->recorder);
	sites_close(daemon->sites);
	requests_close(&daemon->requests);
	follower_stop(daemon->follower);
	policies_close(&daemon->policies);
	engine_close(daemon->engine);
	cleanup_close(&daemon->signal_fd);
	cleanup_close(&daemon->lock_fd);
}

/* Told to end before all was attached: what an earlier daemon has attached edits no more, either.
 */
static void give_up(const struct daemon *daemon)
{
	control_set_paused(daemon->pins.layer_dir, true);
	log_info("stopped", "stopped before it was ready; editing stopped");
}

int daemon_run(const struct options *options)
{
	struct daemon daemon = {.lock_fd = -1, .signal_fd = -1, .recorder = RECORDER_PROCESS_NONE};
	int err;

	resident_keep_low();
	log_info("starting", "ctxpropd %s is starting", CTXPROP_VERSION);
	err = daemon_start(&daemon, options);
	if (err == -ECANCELED) {
		give_up(&daemon);
		err = 0;
	} else if (!err) {
		drop_rights(wanted_any(&options->wanted), options->profile);
		begin_to_follow(&daemon, options->publish);
		if (options->profile && !options->drain)
			recorder_process_prepare(&daemon.recorder, options->profile, options->store,
						 (int)options->level);
		daemon.traces.recorded = daemon.recorder.counts;
		traces_begin(&daemon.traces, daemon.engine, &daemon.policies, options);
		if (options->level == LOG_LEVEL_DEBUG)
			flow_log_new(engine_flows_fd(daemon.engine), &daemon.flow_log);
		recorder_process_begin(&daemon.recorder);
		if (daemon.follower)
			follower_settle(daemon.follower, SETTLE_MS);
		resident_shrink(); /* loading took what is not needed any more */
		be_ready(&daemon, wanted_any(&options->wanted));
		if (daemon.follower)
			follower_preload(daemon.follower);
		err = run(&daemon);
		recorder_process_stop(&daemon.recorder);
		if (daemon.drained)
			err = drain_finish(&daemon.drain);
		else
			leave(&daemon);
	}
	close_all(&daemon);
	return err;
}
