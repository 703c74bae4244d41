// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/signalfd.h>

#include "base/cleanup.h"
#include "base/interrupt.h"
#include "base/jobs.h"
#include "base/log.h"
#include "base/netns.h"
#include "base/notify.h"
#include "base/privileges.h"
#include "base/resident.h"
#include "base/signals.h"
#include "base/stop.h"
#include "base/version.h"
#include "control/port.h"
#include "control/protocol.h"
#include "daemon/daemon.h"
#include "daemon/drain.h"
#include "daemon/flow_log.h"
#include "daemon/follow.h"
#include "daemon/follower.h"
#include "daemon/options.h"
#include "daemon/policies.h"
#include "daemon/policy_wait.h"
#include "daemon/requests.h"
#include "daemon/sites.h"
#include "daemon/tables.h"
#include "daemon/traces.h"
#include "daemon/upkeep.h"
#include "daemon/watchdog.h"
#include "flows/gc.h"
#include "load/control.h"
#include "load/engine.h"
#include "load/features.h"
#include "load/left.h"
#include "load/node.h"
#include "load/stale.h"
#include "load/table.h"
#include "load/tcx.h"
#include "pins/pins.h"
#include "profile/keep/recorder_process.h"
#include "runtime/preload.h"
#include "runtime/uprobe.h"

/* How long the start waits until programs that run already were inspected. */
#define SETTLE_MS 2000

/* Everything that a running daemon holds. */
struct daemon {
	struct pins pins;
	__u64 cookie;
	int lock_fd, signal_fd;
	struct engine *engine;
	struct engine_origin origin;
	struct sites *sites;
	struct watchdog watchdog;
	struct upkeep upkeep;
	bool memory_is_short;      /* nothing is loaded before it is needed */
	bool follows;              /* requests, by the node's probes */
	struct follower *follower; /* NULL: programs are not looked at */
	struct policies policies;
	struct requests requests;
	struct drain drain;
	struct traces traces;
	struct flow_log *flow_log; /* NULL: not at debug level */
	struct recorder_process recorder;
	bool drained;
};

/* Log what failed and return the error. */
static int failed(const char *what, int err)
{
	log_error("start-failed", "%s: %s", what, strerror(-err));
	return err;
}

/* What is loaded in parallel: the packet programs of each hook, and the probes. */
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
	return failed("the BPF programs cannot be loaded (-v shows the verifier's words)", err);
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

/*
 * The job that has loaded the last program continues the start; other threads load probes by then.
 */
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

/* What cannot be loaded here is tried again when it is needed, and logged then. */
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

/* In parallel, unless memory is short: loading takes more memory than anything after it. */
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

/*
 * Load the packet programs and the probes, over the node's maps. The packet path comes first: it is
 * complete before the last probe is loaded, and `then` is called as soon as it is. 0; -ECANCELED:
 * told to end meanwhile; or -errno, which was logged, also by `then`.
 */
static int load(struct daemon *daemon, const struct options *options,
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
		return failed("the BPF programs cannot be opened", err);
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

static int check_features(void)
{
	char problem[256];
	int err = features_check(problem, sizeof(problem));

	if (err)
		log_error("kernel-unsupported", "%s", problem);
	return err;
}

static int choose_way(enum attach_way wanted, enum attach_way *ret_way)
{
	bool tcx = tcx_supported();

	if (wanted == ATTACH_TCX && !tcx) {
		log_error("kernel-unsupported", "--attach tcx: this kernel has no TCX, which came "
						"with Linux 6.6; use --attach clsact or auto");
		return -EOPNOTSUPP;
	}
	*ret_way = tcx ? wanted : ATTACH_CLSACT;
	return 0;
}

/* Others' leftovers are no reason not to start. */
static void clear_stale(const struct pins *pins)
{
	int removed = stale_remove(pins);

	if (removed < 0)
		log_debug("pins-scan-failed",
			  "cannot look for pins of network namespaces that are gone: %s",
			  strerror(-removed));
	else if (removed)
		log_info("pins-removed", "removed the pins of %d network namespaces that are gone",
			 removed);
}

static int open_pins(struct daemon *daemon)
{
	char why[PINS_WHY_MAX];
	int err = netns_cookie(&daemon->cookie);

	if (!err)
		err = pins_mount();
	if (err)
		return failed("no BPF file system at " PINS_BPFFS
			      ", and it cannot be mounted (mount -t bpf bpf " PINS_BPFFS ")",
			      err);
	pins_name(daemon->cookie, &daemon->pins);
	daemon->lock_fd = pins_lock(&daemon->pins);
	if (daemon->lock_fd == -EWOULDBLOCK) {
		log_error("already-running",
			  "another ctxpropd or a `ctxprop detach` is running in this network "
			  "namespace (%s is locked)",
			  daemon->pins.netns_dir);
		return -EWOULDBLOCK;
	}
	if (daemon->lock_fd == -EPERM && pins_check(&daemon->pins, why)) {
		log_error("pins-unsafe", "the pin directories are not safe to use: %s", why);
		return -EPERM;
	}
	return daemon->lock_fd < 0 ? failed(daemon->pins.netns_dir, daemon->lock_fd) : 0;
}

/* The policy comes before the first packet; with a wrong one nothing is edited. */
static int begin_policy(struct daemon *daemon)
{
	struct policy_maps maps = engine_policy_maps(daemon->engine);
	int err = policies_begin(&daemon->policies, &maps, &daemon->pins);

	if (err)
		control_set_paused(daemon->pins.layer_dir, true);
	return err;
}

static int listen_for_requests(struct daemon *daemon, const struct options *options)
{
	int err =
	    requests_open(&daemon->requests, &daemon->policies, options->store, options->readers);
	__u32 port;

	if (err)
		return failed("the socket for ctxprop", err);
	port = control_server_port(daemon->requests.server);
	if (port != CONTROL_PORT)
		log_warning("port-taken",
			    "another program has the netlink port of ctxpropd (see ss -f netlink); "
			    "listening on port %u, where commands of root will look for it",
			    port);
	err = control_port_keep(&daemon->pins, port);
	/* Then commands find no daemon, or do not trust the one that they find. */
	if (err)
		log_warning("port-unknown", "cannot tell ctxprop the netlink port: %s",
			    strerror(-err));
	return 0;
}

/* No packet will ever come again of the flows of a network namespace that is gone. */
static void forget_flows(const char *name, bool (*gone)(__u32 netns, void *data), void *gone_data,
			 void *data)
{
	const struct daemon *daemon = data;
	const struct gc_maps maps = upkeep_maps(daemon->engine);
	struct gc_result result;
	int err = gc_remove_gone(&maps, gone, gone_data, &result);

	if (err)
		log_warning("flows-sweep-failed",
			    "cannot remove flows of network namespaces that are gone: %s",
			    strerror(-err));
	else if (result.removed)
		log_info("flows-removed", "removed %lu flows of %s", result.removed,
			 name ? name : "network namespaces that ended while no daemon ran");
}

/*
 * Stop editing in namespaces of an earlier daemon's --netns that this one was not told to work in.
 */
static void quieten_others(const struct daemon *daemon)
{
	int count = left_quieten(&daemon->pins);

	if (count < 0)
		log_warning("netns-edited",
			    "network namespaces of an earlier --netns are still edited: %s",
			    strerror(-count));
	else if (count)
		log_warning("netns-left",
			    "%d network namespace%s of an earlier --netns: nothing is edited there "
			    "any more, live connections stay translated; `ctxprop --netns NAME "
			    "detach` removes the programs, a start with --netns uses them again",
			    count, count == 1 ? "" : "s");
}

static void tell_left(const struct daemon *daemon, bool wants_some)
{
	int count;

	if (!wants_some) {
		quieten_others(daemon);
		return;
	}
	count = left_count(&daemon->pins) - ((int)sites_count(daemon->sites) - 1);
	if (count > 0)
		log_warning("netns-edited",
			    "%d network namespace%s of an earlier --netns: still edited, since the "
			    "programs are shared; `ctxprop --netns NAME detach` removes them",
			    count, count == 1 ? "" : "s");
}

static int attach_all(struct daemon *daemon, const struct options *options)
{
	struct sites_options wanted = {.engine = daemon->engine,
				       .wanted = &options->wanted,
				       .cookie = daemon->cookie,
				       .on_gone = forget_flows,
				       .data = daemon};
	int err = choose_way(options->way, &wanted.way);

	if (!err)
		err = sites_open(&wanted, &daemon->pins, take_fd(&daemon->lock_fd), &daemon->sites);
	if (!err)
		tell_left(daemon, wanted_any(&options->wanted));
	return err;
}

static void take_orders(struct daemon *daemon)
{
	daemon->drain = (struct drain){
	    .sites = daemon->sites, .engine = daemon->engine, .server = daemon->requests.server};
	daemon->requests.orders = (struct orders){
	    .sites = daemon->sites, .engine = daemon->engine, .drain = &daemon->drain};
}

/*
 * The packet programs are loaded: put the rules in force first, then listen for ctxprop, then
 * attach.
 */
static int begin_editing(struct daemon *daemon, const struct options *options)
{
	int err = begin_policy(daemon);

	if (!err)
		err = listen_for_requests(daemon, options);
	if (err)
		return err;
	return stop_asked() ? -ECANCELED : attach_all(daemon, options);
}

/*
 * Everything before the loop: signals, rules, what is loaded and attached. 0; -ECANCELED: told to
 * end meanwhile; or -errno, which was logged. What `daemon` holds then is to be freed in any case.
 */
static int start(struct daemon *daemon, const struct options *options)
{
	int err = check_features();

	if (err)
		return err;
	features_raise_limits();
	follow_warn();
	/* A reader of the log that goes away (SIGPIPE) is no reason to stop. */
	daemon->signal_fd = signals_take((const int[]){SIGTERM, SIGINT, SIGHUP, 0}, SIGPIPE);
	if (daemon->signal_fd < 0)
		return failed("signals", daemon->signal_fd);
	err = policies_read(&daemon->policies, options->policy);
	/* A daemon that only drains does not need the policy. */
	if (err && options->drain)
		err = 0;
	else if (err && options->wait_for_policy)
		err = policy_wait(&daemon->policies, options->policy, daemon->signal_fd);
	if (!err)
		err = open_pins(daemon);
	if (err)
		return err;
	if (stop_asked())
		return -ECANCELED;
	clear_stale(&daemon->pins);
	err = load(daemon, options, begin_editing);
	if (err)
		return err;
	take_orders(daemon);
	if (options->drain)
		err = drain_begin(&daemon->drain);
	if (err)
		return failed("draining", err);
	err = upkeep_start(&daemon->upkeep, daemon->sites, daemon->engine, options->gc_seconds);
	return err ? failed("counters", err) : 0;
}

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

/* Do what is due at this time. Returns the milliseconds until there is more to do. */
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
	return news < 0 ? failed("waiting for news", news) : 0;
}

/* Everything is attached: from now on fewer rights are needed. */
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

static void begin_to_follow(struct daemon *daemon, const struct options *options)
{
	int err = daemon->follows ? follower_start(options->publish, daemon->memory_is_short,
						   options->http2, &daemon->follower)
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
		failed("stopping to edit", err);
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

/* Told to end before everything was attached: programs of an earlier daemon stop editing, too. */
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
	err = start(&daemon, options);
	if (err == -ECANCELED) {
		give_up(&daemon);
		err = 0;
	} else if (!err) {
		drop_rights(wanted_any(&options->wanted), options->profile);
		begin_to_follow(&daemon, options);
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
		resident_shrink(); /* free what only loading needed */
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
