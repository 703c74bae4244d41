// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
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
#include "base/stop.h"
#include "control/port.h"
#include "control/protocol.h"
#include "daemon/daemon.h"
#include "daemon/drain.h"
#include "daemon/follow.h"
#include "daemon/runtimes_log.h"
#include "daemon/policies.h"
#include "daemon/policy_wait.h"
#include "daemon/requests.h"
#include "daemon/sites.h"
#include "daemon/tables.h"
#include "daemon/traces.h"
#include "daemon/upkeep.h"
#include "daemon/watchdog.h"
#include "flows/gc.h"
#include "flows/table.h"
#include "load/control.h"
#include "load/engine.h"
#include "load/features.h"
#include "load/left.h"
#include "load/node.h"
#include "load/pins.h"
#include "load/stale.h"
#include "load/tcx.h"
#include "runtime/uprobe.h"

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
	struct runtimes *runtimes; /* NULL: requests are not followed */
	struct policies policies;
	struct requests requests;
	struct drain drain;
	struct traces traces;
	bool drained;
};

/* Log what failed and hand the error on. */
static int failed(const char *what, int err)
{
	log_error("%s: %s", what, strerror(-err));
	return err;
}

/* Signals are read from a descriptor, so that no handler ever runs. */
static int take_signals(void)
{
	sigset_t signals;
	int fd;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	/* A reader of the log that goes away is no reason to stop. */
	if (sigprocmask(SIG_BLOCK, &signals, NULL) || signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return -errno;
	fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static int check_features(void)
{
	char problem[256];
	int err = features_check(problem, sizeof(problem));

	if (err)
		log_error("%s", problem);
	return err;
}

static int choose_way(enum attach_way wanted, enum attach_way *ret_way)
{
	bool tcx = tcx_supported();

	if (wanted == ATTACH_TCX && !tcx) {
		log_error("--attach tcx: this kernel has no TCX, which came with Linux 6.6; use "
			  "--attach clsact or auto");
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
		log_debug("looking for pins of namespaces that are gone: %s", strerror(-removed));
	else if (removed)
		log_info("removed the pins of %d network namespaces that are gone", removed);
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
		log_error("another ctxpropd or a `ctxprop detach` is running in this network "
			  "namespace (%s is locked)",
			  daemon->pins.netns_dir);
		return -EWOULDBLOCK;
	}
	if (daemon->lock_fd == -EPERM && pins_check(&daemon->pins, why)) {
		log_error("the directories of pins are not ours alone: %s", why);
		return -EPERM;
	}
	return daemon->lock_fd < 0 ? failed(daemon->pins.netns_dir, daemon->lock_fd) : 0;
}

/* What is loaded side by side: the packet programs, and the probes. */
struct loading {
	struct daemon *daemon;
	const struct options *options;
	struct sizes sizes;
	struct node_report report;
	int node_lock_fd;
};

static int load_programs(void *data)
{
	const struct loading *loading = data;
	const struct options *options = loading->options;
	struct daemon *daemon = loading->daemon;
	struct engine_options wanted = {.sizes = loading->sizes,
					.ignore_request_ids = options->ignore_request_ids,
					.paused = options->drain,
					.shared = wanted_any(&options->wanted)};

	return engine_open(&daemon->pins, daemon->cookie, &wanted, &daemon->engine,
			   &daemon->origin);
}

static void log_programs(const struct daemon *daemon)
{
	const struct engine_origin *origin = &daemon->origin;

	if (origin->set_aside)
		log_warning("pinned by another build (%s): its programs stay and keep translating, "
			    "ours are attached beside them",
			    origin->why);
	log_info("%s %s, room for %u flows", origin->adopted ? "adopted" : "made",
		 daemon->pins.layer_dir, origin->flows);
}

static void no_runtimes(int err)
{
	log_warning(
	    "no probes in programs, calls of goroutines and of Python's tasks begin new traces: %s",
	    strerror(-err));
}

static void watch_runtimes(struct daemon *daemon, bool has_news)
{
	int err = has_news ? runtimes_update(daemon->runtimes) : 0;

	if (!err)
		err = runtimes_do(daemon->runtimes);
	if (!err)
		return;
	no_runtimes(err);
	runtimes_close(daemon->runtimes);
	daemon->runtimes = NULL;
}

static void follow_runtimes(struct daemon *daemon, enum runtimes_publish publish)
{
	int err = runtimes_open(runtimes_log, runtimes_log_lack, publish, &daemon->runtimes);

	if (err)
		no_runtimes(err);
	else
		watch_runtimes(daemon, false);
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
		log_warning("requests are not followed, each call begins a new trace: %s",
			    strerror(-err));
	else
		follow_log(&loading->report);
	if (!err && loading->report.follows)
		follow_runtimes(loading->daemon, loading->options->publish_goroutines);
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

/* The packet programs and the probes, over the node's maps. */
static int load_all(struct daemon *daemon, const struct options *options)
{
	struct loading loading = {.daemon = daemon, .options = options, .node_lock_fd = -1};
	int node_err, err = tables_choose(options, &loading.sizes);
	struct job jobs[] = {{.run = load_programs, .data = &loading},
			     {.run = load_probes, .data = &loading}};
	struct interrupt interrupt;

	if (err)
		return failed("the BPF programs cannot be opened", err);
	node_err = node_open(&loading.sizes, &loading.report, &loading.node_lock_fd);
	interrupt_begin(&interrupt);
	run_loads(jobs, node_err ? 1 : 2, loading.sizes.halved);
	interrupt_end(&interrupt);
	cleanup_close(&loading.node_lock_fd);
	err = jobs[0].err;
	if (err == -ECANCELED || stop_asked())
		return -ECANCELED;
	if (err)
		return failed("the BPF programs cannot be loaded (-v shows the verifier's words)",
			      err);
	log_programs(daemon);
	tables_tell_adopted(&loading.sizes, daemon->origin.flows,
			    node_err ? loading.sizes.halved : loading.report.halved);
	follow(&loading, node_err ? node_err : jobs[1].err);
	return 0;
}

/* The policy comes before the first packet; with a wrong one nothing is edited. */
static int begin_policy(struct daemon *daemon)
{
	struct policies_maps maps = engine_policies(daemon->engine);
	int err = policies_begin(&daemon->policies, &maps, &daemon->pins);

	if (err)
		control_set_paused(daemon->pins.layer_dir, true);
	return err;
}

static int listen_for_requests(struct daemon *daemon, const struct options *options)
{
	int err = requests_open(&daemon->requests, &daemon->policies, options->readers);
	__u32 port;

	if (err)
		return failed("the socket for ctxprop", err);
	port = control_server_port(daemon->requests.server);
	if (port != CONTROL_PORT)
		log_warning("another program has the netlink port of ctxpropd (see ss -f netlink); "
			    "listening at port %u, where root's commands will ask",
			    port);
	err = control_port_keep(&daemon->pins, port);
	/* They find nobody, or do not believe who they find. */
	if (err)
		log_warning("ctxprop cannot be told the netlink port: %s", strerror(-err));
	return 0;
}

/* Nothing will ever be heard again of the flows of a network namespace that is gone. */
static void forget_flows(const char *name, bool (*gone)(__u32 netns, void *data), void *gone_data,
			 void *data)
{
	const struct daemon *daemon = data;
	struct gc_result result;
	int err = gc_remove_gone(&daemon->upkeep.maps, gone, gone_data, &result);

	if (err)
		log_warning("flows of network namespaces that are gone: %s", strerror(-err));
	else if (result.removed)
		log_info("removed %lu flows of %s", result.removed,
			 name ? name : "network namespaces that ended while no daemon ran");
}

/* What an earlier daemon did by --netns, and this one was not told to do. */
static void quieten_others(const struct daemon *daemon)
{
	int count = left_quieten(&daemon->pins);

	if (count < 0)
		log_warning("network namespaces of an earlier --netns are still edited: %s",
			    strerror(-count));
	else if (count)
		log_warning("%d network namespace%s of an earlier --netns: nothing is edited there "
			    "any more, live connections stay translated; `ctxprop --netns NAME "
			    "detach` takes the programs away, a start with --netns puts them to "
			    "work again",
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
		log_warning("%d network namespace%s of an earlier --netns: still edited, since the "
			    "programs are shared; `ctxprop --netns NAME detach` takes them away",
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

static int start(struct daemon *daemon, const struct options *options)
{
	int err = check_features();

	if (err)
		return err;
	features_raise_limits();
	follow_warn();
	daemon->signal_fd = take_signals();
	if (daemon->signal_fd < 0)
		return failed("signals", daemon->signal_fd);
	err = policies_read(&daemon->policies, options->policy);
	/* Who only drains edits nothing by it. */
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
	err = load_all(daemon, options);
	if (!err)
		err = begin_policy(daemon);
	if (!err)
		err = listen_for_requests(daemon, options);
	if (!err)
		err = stop_asked() ? -ECANCELED : attach_all(daemon, options);
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
	    {.fd = runtimes_fd(daemon->runtimes), .events = POLLIN},
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
	watchdog_mark(&daemon->watchdog, "a look at programs");
	if (daemon->runtimes)
		watch_runtimes(daemon, fds[3].revents);
	watchdog_mark(&daemon->watchdog, "names of devices and cgroups");
	policies_refresh(&daemon->policies);
	return err;
}

/* What is due by the clock. Returns the milliseconds until there is more to do. */
static int do_what_is_due(struct daemon *daemon)
{
	int due_ms[4], first_ms;

	watchdog_mark(&daemon->watchdog, "counters and dead flows");
	due_ms[0] = first_ms = upkeep_do(&daemon->upkeep);
	watchdog_mark(&daemon->watchdog, "network namespaces");
	due_ms[1] = sites_look(daemon->sites);
	watchdog_mark(&daemon->watchdog, "draining");
	due_ms[2] = drain_do(&daemon->drain, &daemon->drained);
	due_ms[3] = runtimes_due_ms(daemon->runtimes);

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
		log_warning("a loop that is held up tells nothing of it: %s", strerror(-err));
	watchdog_begin(&daemon->watchdog, "the start");
	while (!news && !daemon->drained)
		news = wait_for_news(daemon, do_what_is_due(daemon));
	watchdog_end(&daemon->watchdog, -1);
	return news < 0 ? failed("waiting for news", news) : 0;
}

/* All is attached: what comes now needs less than what was before. */
static void drop_rights(bool enters_netns)
{
	bool admin = false;
	int err = privileges_drop(enters_netns, !uprobe_has_links(), &admin);

	if (err)
		log_warning("capabilities that are not needed any more stay: %s", strerror(-err));
	if (admin && !enters_netns)
		log_info("CAP_SYS_ADMIN stays: this kernel wants it for uprobes");
}

static void be_ready(const struct daemon *daemon, bool enters_netns)
{
	size_t count = sites_devices(daemon->sites), sites = sites_count(daemon->sites);

	if (enters_netns)
		log_info("ready: %zu devices in %zu network namespaces", count, sites);
	else
		log_info("ready: %zu device%s", count, count == 1 ? "" : "s");
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
		log_info("editing stopped; %lu live flows stay translated by the pinned programs; "
			 "`ctxprop drain` waits for them and removes the programs, `ctxprop "
			 "detach` removes them when there are none",
			 shifted);
}

static void close_all(struct daemon *daemon)
{
	traces_end(&daemon->traces);
	sites_close(daemon->sites);
	requests_close(&daemon->requests);
	runtimes_close(daemon->runtimes);
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
	log_info("told to end before it was ready; editing stopped");
}

int daemon_run(const struct options *options)
{
	struct daemon daemon = {.lock_fd = -1, .signal_fd = -1};
	int err;

	log_info("ctxpropd %s starts", CTXPROP_VERSION);
	err = start(&daemon, options);
	if (err == -ECANCELED) {
		give_up(&daemon);
		err = 0;
	} else if (!err) {
		drop_rights(wanted_any(&options->wanted));
		traces_begin(&daemon.traces, daemon.engine, &daemon.policies, options);
		malloc_trim(0); /* loading took what is not needed any more */
		be_ready(&daemon, wanted_any(&options->wanted));
		err = run(&daemon);
		if (daemon.drained)
			err = drain_finish(&daemon.drain);
		else
			leave(&daemon);
	}
	close_all(&daemon);
	return err;
}
