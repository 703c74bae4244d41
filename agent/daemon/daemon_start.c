// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/netns.h"
#include "base/signals.h"
#include "base/stop.h"
#include "control/port.h"
#include "control/protocol.h"
#include "daemon/daemon_inside.h"
#include "daemon/follow.h"
#include "daemon/policy_wait.h"
#include "flows/gc.h"
#include "load/control.h"
#include "load/features.h"
#include "load/left.h"
#include "load/stale.h"
#include "load/tcx.h"

int daemon_failed(const char *what, int err)
{
	log_error("start-failed", "%s: %s", what, strerror(-err));
	return err;
}

static int take_signals(void)
{
	/* A reader of the log that goes away is no reason to stop. */
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return -errno;
	return signals_take((const int[]){SIGTERM, SIGINT, SIGHUP, 0});
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
		return daemon_failed("no BPF file system at " PINS_BPFFS
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
	return daemon->lock_fd < 0 ? daemon_failed(daemon->pins.netns_dir, daemon->lock_fd) : 0;
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
	int err =
	    requests_open(&daemon->requests, &daemon->policies, options->store, options->readers);
	__u32 port;

	if (err)
		return daemon_failed("the socket for ctxprop", err);
	port = control_server_port(daemon->requests.server);
	if (port != CONTROL_PORT)
		log_warning("port-taken",
			    "another program has the netlink port of ctxpropd (see ss -f netlink); "
			    "listening on port %u, where commands of root will look for it",
			    port);
	err = control_port_keep(&daemon->pins, port);
	/* They find nobody, or do not believe who they find. */
	if (err)
		log_warning("port-unknown", "cannot tell ctxprop the netlink port: %s",
			    strerror(-err));
	return 0;
}

/* Nothing will ever be heard again of the flows of a network namespace that is gone. */
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

/* What an earlier daemon did by --netns, and this one was not told to do. */
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

/* The packet programs are loaded: rules first, then who may ask, then packets. */
static int begin_editing(struct daemon *daemon, const struct options *options)
{
	int err = begin_policy(daemon);

	if (!err)
		err = listen_for_requests(daemon, options);
	if (err)
		return err;
	return stop_asked() ? -ECANCELED : attach_all(daemon, options);
}

int daemon_start(struct daemon *daemon, const struct options *options)
{
	int err = check_features();

	if (err)
		return err;
	features_raise_limits();
	follow_warn();
	daemon->signal_fd = take_signals();
	if (daemon->signal_fd < 0)
		return daemon_failed("signals", daemon->signal_fd);
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
	err = daemon_load(daemon, options, begin_editing);
	if (err)
		return err;
	take_orders(daemon);
	if (options->drain)
		err = drain_begin(&daemon->drain);
	if (err)
		return daemon_failed("draining", err);
	err = upkeep_start(&daemon->upkeep, daemon->sites, daemon->engine, options->gc_seconds);
	return err ? daemon_failed("counters", err) : 0;
}
