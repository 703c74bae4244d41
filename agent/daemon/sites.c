// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/rtnetlink.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/names.h"
#include "base/netns.h"
#include "base/netns_all.h"
#include "base/proc.h"
#include "daemon/search.h"
#include "daemon/sites.h"
#include "load/links.h"
#include "load/nsid.h"
#include "load/removal.h"
#include "pins/texts.h"

#define NS_PER_MS (NS_PER_SECOND / 1000)

/* A namespace that no event has announced is found after at most: */
#define LOOK_INTERVAL_NS (5 * NS_PER_SECOND)

/* How long after an event namespaces are looked for (a container's network is not made in one
 * step), and the least time between two such looks. */
#define LOOK_SOON_NS  (50 * NS_PER_MS)
#define LOOK_PAUSE_NS (500 * NS_PER_MS)

/* Pinned texts with the cookies of namespaces. */
#define DROPPED_TEXT "dropped"
#define TAKEN_TEXT   "taken"

/* Bytes of a namespace's cookie as a name: hexadecimal. */
#define COOKIE_TEXT_MAX 20

/* What was ordered about whole namespaces: lists of cookies, as names. */
struct ordered {
	char *dropped; /* are left alone */
	char *taken;   /* are wanted besides */
};

struct sites {
	struct sites_options options;
	struct links_monitor *monitor;
	struct search search;
	struct site **table; /* the own namespace first */
	struct ordered ordered;
	size_t count;
	int home_fd;
	bool inside; /* another namespace than the own one */
	__u64 looked_ns, look_at_ns;
};

static struct site *find_netns(const struct sites *sites, __u32 netns)
{
	for (size_t i = 0; i < sites->count; i++)
		if ((__u32)sites->table[i]->cookie == netns)
			return sites->table[i];
	return NULL;
}

static bool is_known(ino_t inode, void *data)
{
	const struct sites *sites = data;

	for (size_t i = 0; i < sites->count; i++)
		if (sites->table[i]->inode == inode)
			return true;
	return false;
}

/* Returning cannot fail: this thread came from there and kept the right to setns(). */
void sites_leave(struct sites *sites)
{
	if (!sites->inside)
		return;
	if (setns(sites->home_fd, CLONE_NEWNET))
		abort();
	sites->inside = false;
}

/* Enter the namespace of a descriptor. */
static int enter_fd(struct sites *sites, int fd, __u64 *ret_cookie)
{
	int err;

	if (setns(fd, CLONE_NEWNET))
		return -errno;
	sites->inside = true;
	err = netns_cookie(ret_cookie);
	if (err)
		sites_leave(sites);
	return err;
}

static int enter(struct sites *sites, struct site *site)
{
	__u64 cookie = 0;
	int err;

	if (!site->inode)
		return 0;
	_cleanup_close_ int fd = search_reopen(site->inode, site->path);

	err = fd < 0 ? fd : enter_fd(sites, fd, &cookie);
	if (err || cookie == site->cookie)
		return err;
	/* The id of a namespace that is gone was given to another one. */
	sites_leave(sites);
	return -ENOENT;
}

int sites_enter(struct sites *sites, __u32 netns)
{
	struct site *site = find_netns(sites, netns);

	return site ? enter(sites, site) : -ENOENT;
}

static struct site *make_room(struct sites *sites)
{
	struct site **table = reallocarray(sites->table, sites->count + 1, sizeof(struct site *));
	struct site *site = calloc(1, sizeof(*site));

	if (table)
		sites->table = table;
	if (!table || !site) {
		free(site);
		return NULL;
	}
	site->lock_fd = -1;
	table[sites->count] = site;
	return site;
}

static void release(struct site *site)
{
	site_close(site);
	free(site);
}

static void name_cookie(char *ret_name, __u64 cookie)
{
	snprintf(ret_name, COOKIE_TEXT_MAX, "%llx", (unsigned long long)cookie);
}

/* Inside the namespace: let the programs work there. */
static int open_site(struct sites *sites, struct site *site)
{
	char name[COOKIE_TEXT_MAX];

	name_cookie(name, site->cookie);
	if (site->cookie == sites->options.cookie || names_have(sites->ordered.dropped, name))
		return -EEXIST;
	return site_open(site, sites->options.engine, sites->table[0]);
}

static void publish(const struct sites *sites)
{
	struct attended attended = {};
	int err;

	for (size_t i = 0; i < sites->count; i++) {
		__u64 id = sites->table[i]->cookie % ATTENDED_MAX;

		attended.namespace[id / 64] |= 1ULL << id % 64;
	}
	err = engine_attend(sites->options.engine, &attended);
	if (err)
		log_warning("pods-twice", "requests from pods may be handled twice: %s",
			    strerror(-err));
}

static void take_out(struct sites *sites, const struct site *site)
{
	for (size_t i = 0; i < sites->count; i++)
		if (sites->table[i] == site)
			sites->table[i] = sites->table[sites->count - 1];
	sites->count--;
	publish(sites);
}

/* Its name in the log: its own, or that of a process in it. */
static void name_site(struct site *site, const struct netns_way *way)
{
	char comm[PROC_COMM_MAX];
	__u32 pid = way->named ? 0 : (__u32)strtoul(way->name, NULL, 10);

	if (way->named) {
		snprintf(site->name, sizeof(site->name), "%.64s", way->name);
		return;
	}
	proc_comm(comm, pid, pid);
	for (char *c = comm; *c; c++)
		if (*c <= ' ' || *c > '~' || *c == '/')
			*c = '?';
	snprintf(site->name, sizeof(site->name), comm[0] ? "pid %u (%s)" : "pid %u", pid, comm);
}

static int meet(const struct netns_way *way, int fd, ino_t inode, bool again, void *data)
{
	struct sites *sites = data;
	struct site *site = make_room(sites);
	int err;

	if (!site)
		return -ENOMEM;
	site->inode = inode;
	snprintf(site->path, sizeof(site->path), "%s", way->path);
	name_site(site, way);
	snprintf(site->place, sizeof(site->place), "%s/", site->name);
	/* Subscribe to events before the devices are read. */
	site->nsid = nsid_of(fd);
	err = site->nsid < 0 ? site->nsid : enter_fd(sites, fd, &site->cookie);
	if (!err)
		err = open_site(sites, site);
	sites_leave(sites);
	if (err == -EWOULDBLOCK && !again)
		log_warning("already-running",
			    "%s: another ctxpropd works in this network namespace (%s is locked)",
			    site->name, site->pins.netns_dir);
	if (err) {
		release(site);
	} else {
		sites->count++;
		publish(sites);
	}
	return err;
}

int sites_look(struct sites *sites)
{
	__u64 now_ns = clock_now_ns();

	if (!wanted_any(sites->options.wanted))
		return -1;
	if (now_ns >= sites->look_at_ns) {
		search_run(&sites->search);
		sites->looked_ns = now_ns;
		sites->look_at_ns = now_ns + LOOK_INTERVAL_NS;
	}
	return (int)((sites->look_at_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS);
}

int sites_fd(const struct sites *sites)
{
	return links_monitor_fd(sites->monitor);
}

const char *sites_layer(const struct sites *sites)
{
	return sites->table[0]->pins.layer_dir;
}

size_t sites_devices(const struct sites *sites)
{
	size_t devices = 0;

	for (size_t i = 0; i < sites->count; i++)
		devices += devices_attached(sites->table[i]->devices);
	return devices;
}

size_t sites_count(const struct sites *sites)
{
	return sites->count;
}

static struct site *find_nsid(const struct sites *sites, int nsid)
{
	for (size_t i = 0; i < sites->count; i++)
		if (sites->table[i]->nsid == nsid)
			return sites->table[i];
	return NULL;
}

static bool is_same(__u32 netns, void *data)
{
	return netns == *(const __u32 *)data;
}

static void on_site_gone(struct sites *sites, struct site *site)
{
	__u32 netns = (__u32)site->cookie;

	log_info("netns-gone", "%s: the network namespace is gone", site->name);
	take_out(sites, site);
	site_forget(site);
	sites->options.on_gone(site->name, is_same, &netns, sites->options.data);
	release(site);
}

static void look_soon(struct sites *sites)
{
	__u64 soon = clock_now_ns() + LOOK_SOON_NS, pause = sites->looked_ns + LOOK_PAUSE_NS;

	soon = soon < pause ? pause : soon;
	if (soon < sites->look_at_ns)
		sites->look_at_ns = soon;
}

static void tell(struct sites *sites, struct site *site, const struct nlmsghdr *message)
{
	int err = enter(sites, site);

	if (err) {
		log_debug("netns-failed", "%s: cannot enter it: %s", site->name, strerror(-err));
		return;
	}
	devices_tell(site->devices, message);
	site_rest(site);
	sites_leave(sites);
}

static void on_news(int nsid, const struct nlmsghdr *message, void *data)
{
	struct sites *sites = data;
	struct site *site;
	int ended;

	if (nsid == LINKS_HERE && nsid_ended(message, &ended)) {
		site = find_nsid(sites, ended);
		if (site)
			on_site_gone(sites, site);
		return;
	}
	if (message->nlmsg_type == RTM_NEWNSID || message->nlmsg_type == RTM_NEWLINK)
		look_soon(sites);
	site = find_nsid(sites, nsid);
	if (site)
		tell(sites, site, message);
}

static int read_site(struct sites *sites, struct site *site)
{
	int err = enter(sites, site);

	if (err)
		return err;
	err = devices_read(site->devices);
	site_rest(site);
	sites_leave(sites);
	return err;
}

/* News were lost. */
static int read_all(struct sites *sites)
{
	int err = 0;

	for (size_t i = sites->count; i-- > 0;) {
		struct site *site = sites->table[i];

		if (site->nsid >= 0 && !nsid_exists(site->nsid))
			on_site_gone(sites, site);
		else if (read_site(sites, site) && !i)
			err = -EIO;
	}
	look_soon(sites);
	return err;
}

/* Subscribe first, then read: a device in between is reported twice rather than never. */
static int listen_for_news(struct sites *sites)
{
	bool everywhere = wanted_any(sites->options.wanted);
	int err = links_monitor_open(everywhere, on_news, sites, &sites->monitor);

	if (err == -EPERM && everywhere)
		log_error("devices-unknown", "--netns: notifications about devices in other "
					     "network namespaces need CAP_NET_BROADCAST");
	else if (err)
		log_error("devices-unknown", "cannot get notifications about network devices: %s",
			  strerror(-err));
	return err;
}

/* Flows of namespaces that ended while no daemon ran. */
static bool is_not_living(__u32 netns, void *data)
{
	const struct netns_set *living = data;

	for (size_t i = 0; i < living->count; i++)
		if ((__u32)living->ids[i].cookie == netns)
			return false;
	return true;
}

static void sweep(struct sites *sites)
{
	struct netns_set living;

	if (!netns_find_all(&living))
		sites->options.on_gone(NULL, is_not_living, &living, sites->options.data);
	netns_set_free(&living);
}

int sites_update(struct sites *sites)
{
	int err = links_monitor_read(sites->monitor);

	if (err != -ENOBUFS)
		return err;
	log_warning("devices-lost", "messages about devices were lost; reading all devices again");
	return read_all(sites);
}

/* A search for namespaces by cookie, for which each namespace has to be entered. */
struct cookie_search {
	struct sites *sites;
	const char *taken; /* cookies of those that are looked for */
	int err;           /* of the last one that was found */
};

static int meet_if_taken(const struct netns_way *way, void *data)
{
	struct cookie_search *search = data;
	struct sites *sites = search->sites;
	char name[COOKIE_TEXT_MAX];
	__u64 cookie = 0;
	ino_t inode = 0;
	_cleanup_close_ int fd = search_open(way->path, &inode);

	if (fd < 0 || is_known(inode, sites) || enter_fd(sites, fd, &cookie))
		return 0;
	sites_leave(sites);
	name_cookie(name, cookie);
	if (names_have(search->taken, name))
		search->err = meet(way, fd, inode, true, sites);
	return 0;
}

/*
 * Begin to work in the namespaces with these cookies. -ENOENT: none was found; else 0 or -errno of
 * the last one.
 */
static int find_taken(struct sites *sites, const char *taken)
{
	struct cookie_search search = {sites, taken, -ENOENT};

	netns_walk(true, meet_if_taken, &search);
	return search.err;
}

static void ordered_free(struct ordered *ordered)
{
	free(ordered->dropped);
	free(ordered->taken);
}

/* A copy in which a name is dropped, or taken. 0 or -ENOMEM; to be freed in any case. */
static int ordered_with(const struct ordered *ordered, const char *name, bool drop,
			struct ordered *ret)
{
	ret->dropped = strdup(ordered->dropped ? ordered->dropped : "");
	ret->taken = strdup(ordered->taken ? ordered->taken : "");
	if (!ret->dropped || !ret->taken)
		return -ENOMEM;
	names_remove(drop ? ret->taken : ret->dropped, name);
	return names_add(drop ? &ret->dropped : &ret->taken, name);
}

/* Keep the orders for the next daemon. 0 or -errno. */
static int ordered_keep(const struct sites *sites, const struct ordered *ordered)
{
	const struct pins *pins = &sites->table[0]->pins;
	int err = texts_put(pins, DROPPED_TEXT, ordered->dropped ? ordered->dropped : "");

	return err ? err : texts_put(pins, TAKEN_TEXT, ordered->taken ? ordered->taken : "");
}

/* Go by `next` from now on if all went well (`err` 0); otherwise by what held before. */
static int ordered_settle(struct sites *sites, struct ordered *next, int err)
{
	if (err) {
		ordered_keep(sites, &sites->ordered);
		ordered_free(next);
	} else {
		ordered_free(&sites->ordered);
		sites->ordered = *next;
	}
	return err;
}

static void find_all_taken(struct sites *sites)
{
	if (sites->ordered.taken && *sites->ordered.taken)
		find_taken(sites, sites->ordered.taken);
}

static void read_names(struct sites *sites)
{
	const struct pins *pins = &sites->table[0]->pins;

	/* There are none. */
	if (texts_get(pins, DROPPED_TEXT, &sites->ordered.dropped))
		sites->ordered.dropped = NULL;
	if (texts_get(pins, TAKEN_TEXT, &sites->ordered.taken))
		sites->ordered.taken = NULL;
}

struct site *sites_enter_site(struct sites *sites, __u64 cookie)
{
	for (size_t i = 0; i < sites->count; i++)
		if (sites->table[i]->cookie == (cookie ? cookie : sites->options.cookie))
			return enter(sites, sites->table[i]) ? NULL : sites->table[i];
	return NULL;
}

int sites_drop(struct sites *sites, __u64 cookie)
{
	struct site *site = sites_enter_site(sites, cookie);
	char name[COOKIE_TEXT_MAX];
	struct ordered next;
	int err;

	if (!site || !site->inode)
		return -ENOENT;
	name_cookie(name, site->cookie);
	err = ordered_with(&sites->ordered, name, true, &next);
	if (!err)
		err = ordered_keep(sites, &next);
	if (!err)
		err = site_remove(site);
	sites_leave(sites);
	if (ordered_settle(sites, &next, err))
		return err;
	log_info("netns-detached", "%s: detached", site->name);
	take_out(sites, site);
	release(site);
	return 0;
}

int sites_take(struct sites *sites, __u64 cookie)
{
	char name[COOKIE_TEXT_MAX];
	struct ordered next;
	int err;

	if (!wanted_any(sites->options.wanted))
		return -EPERM;
	name_cookie(name, cookie);
	err = ordered_with(&sites->ordered, name, false, &next);
	if (!err)
		err = ordered_keep(sites, &next);
	if (ordered_settle(sites, &next, err) || find_netns(sites, (__u32)cookie))
		return err;
	search_free(&sites->search); /* it may have been declined */
	return find_taken(sites, name);
}

int sites_remove(struct sites *sites)
{
	int result = 0;

	/* The own namespace last: it has the maps of all. */
	for (size_t i = sites->count; i-- > 0;) {
		int err = enter(sites, sites->table[i]);

		if (!err)
			err = site_remove(sites->table[i]);
		sites_leave(sites);
		result = err ? err : result;
	}
	return result ? result : removal_finish();
}

void sites_close(struct sites *sites)
{
	if (!sites)
		return;
	for (size_t i = 0; i < sites->count; i++)
		release(sites->table[i]);
	links_monitor_close(sites->monitor);
	search_free(&sites->search);
	cleanup_close(&sites->home_fd);
	ordered_free(&sites->ordered);
	free(sites->table);
	free(sites);
}

static int open_home(struct sites *sites, const struct pins *pins, int *lock_fd)
{
	struct site *site = make_room(sites);

	if (!site)
		return -ENOMEM;
	sites->count++;
	site->cookie = sites->options.cookie;
	site->pins = *pins;
	site->lock_fd = take_fd(lock_fd);
	publish(sites);
	return site_open_home(site, sites->options.engine, sites->options.way);
}

/* Make sure that this thread can return to its own namespace. */
static int open_way_home(struct sites *sites)
{
	sites->home_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (sites->home_fd >= 0 &&
	    (!wanted_any(sites->options.wanted) || !setns(sites->home_fd, CLONE_NEWNET)))
		return 0;
	log_error("netns-failed", "--netns: cannot enter network namespaces: %s%s", strerror(errno),
		  errno == EPERM ? ", it needs CAP_SYS_ADMIN" : "");
	return -errno;
}

static int start(struct sites *sites, const struct pins *home, int lock_fd)
{
	int err = open_way_home(sites);

	if (!err)
		err = listen_for_news(sites);
	if (!err)
		err = open_home(sites, home, &lock_fd);
	cleanup_close(&lock_fd);
	if (!err && wanted_any(sites->options.wanted)) {
		read_names(sites);
		sweep(sites);
		sites_look(sites);
		find_all_taken(sites);
	}
	return err;
}

int sites_open(const struct sites_options *options, const struct pins *home, int lock_fd,
	       struct sites **ret_sites)
{
	struct sites *sites = calloc(1, sizeof(*sites));
	int err;

	if (!sites) {
		cleanup_close(&lock_fd);
		return -ENOMEM;
	}
	sites->options = *options;
	sites->search = (struct search){
	    .wanted = options->wanted, .is_known = is_known, .meet = meet, .data = sites};
	err = start(sites, home, lock_fd);
	if (err)
		sites_close(sites);
	else
		*ret_sites = sites;
	return err;
}
