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
#include "base/netns.h"
#include "base/netns_all.h"
#include "daemon/search.h"
#include "daemon/sites.h"
#include "load/links.h"
#include "load/nsid.h"

#define NS_PER_MS (NS_PER_SECOND / 1000)
/* A namespace that nothing tells of is found within: */
#define LOOK_INTERVAL_NS (5 * NS_PER_SECOND)
/* After news: a container's network is not made in one step. And not more often than: */
#define LOOK_SOON_NS  (50 * NS_PER_MS)
#define LOOK_PAUSE_NS (500 * NS_PER_MS)

struct sites {
	struct sites_options options;
	struct links_monitor *monitor;
	struct search search;
	struct site **table; /* the own namespace first */
	size_t count;
	int home_fd;
	bool inside; /* another namespace than the own one */
	__u64 looked_ns, look_at_ns;
};

static struct site *find_nsid(const struct sites *sites, int nsid)
{
	for (size_t i = 0; i < sites->count; i++)
		if (sites->table[i]->nsid == nsid)
			return sites->table[i];
	return NULL;
}

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

/* Going home cannot fail: this thread came from there and kept the right to setns(). */
void sites_leave(struct sites *sites)
{
	if (!sites->inside)
		return;
	if (setns(sites->home_fd, CLONE_NEWNET))
		abort();
	sites->inside = false;
}

/* Enter the namespace of a descriptor. */
static int enter(struct sites *sites, int fd, __u64 *ret_cookie)
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

static int enter_site(struct sites *sites, struct site *site)
{
	__u64 cookie;
	int err;

	if (!site->inode)
		return 0;
	_cleanup_close_ int fd = search_reopen(site->inode, site->path);

	err = fd < 0 ? fd : enter(sites, fd, &cookie);
	if (err || cookie == site->cookie)
		return err;
	/* The number of one that is gone was given to another. */
	sites_leave(sites);
	return -ENOENT;
}

int sites_enter(struct sites *sites, __u32 netns)
{
	struct site *site = find_netns(sites, netns);

	return site ? enter_site(sites, site) : -ENOENT;
}

/* Room for one more, which is not counted yet; NULL: no memory. */
static struct site *make_room(struct sites *sites)
{
	struct site **table = reallocarray(sites->table, sites->count + 1, sizeof(*table));
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

/* Inside the namespace: let the programs work there. */
static int open_site(struct sites *sites, struct site *site)
{
	if (site->cookie == sites->options.cookie)
		return -EEXIST;
	return site_open(site, sites->options.engine, sites->table[0]);
}

/* Tell the programs which namespaces there are. */
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
		log_warning("requests from pods may be decided about twice: %s", strerror(-err));
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
	snprintf(site->name, sizeof(site->name), "%s%.64s", way->named ? "" : "pid ", way->name);
	snprintf(site->place, sizeof(site->place), "%s/", site->name);
	/* Its news are heard from here on; the devices are read after that. */
	site->nsid = nsid_of(fd);
	err = site->nsid < 0 ? site->nsid : enter(sites, fd, &site->cookie);
	if (!err)
		err = open_site(sites, site);
	sites_leave(sites);
	if (err == -EWOULDBLOCK && !again)
		log_warning("%s: another ctxpropd works in this network namespace (%s is locked)",
			    site->name, site->pins.netns_dir);
	if (err) {
		release(site);
	} else {
		sites->count++;
		publish(sites);
	}
	return err;
}

static bool is_same(__u32 netns, void *data)
{
	return netns == *(const __u32 *)data;
}

static void on_site_gone(struct sites *sites, struct site *site)
{
	__u32 netns = (__u32)site->cookie;

	log_info("%s: the network namespace is gone", site->name);
	for (size_t i = 0; i < sites->count; i++)
		if (sites->table[i] == site)
			sites->table[i] = sites->table[sites->count - 1];
	sites->count--;
	publish(sites);
	site_forget(site);
	release(site);
	sites->options.on_gone(is_same, &netns, sites->options.data);
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
	int err = enter_site(sites, site);

	if (err) {
		log_debug("%s: cannot be entered: %s", site->name, strerror(-err));
		return;
	}
	devices_tell(site->devices, message);
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
	int err = enter_site(sites, site);

	if (err)
		return err;
	err = devices_read(site->devices);
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
		sites->options.on_gone(is_not_living, &living, sites->options.data);
	netns_set_free(&living);
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

/* First subscribe, then read: a device between the two is told twice, not never. */
static int listen_for_news(struct sites *sites)
{
	bool everywhere = wanted_any(sites->options.wanted);
	int err = links_monitor_open(everywhere, on_news, sites, &sites->monitor);

	if (err == -EPERM && everywhere)
		log_error("--netns: news of other network namespaces take CAP_NET_BROADCAST");
	else if (err)
		log_error("news of network devices: %s", strerror(-err));
	return err;
}

/* Where it is still possible to come home. */
static int open_way_home(struct sites *sites)
{
	sites->home_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (sites->home_fd >= 0 &&
	    (!wanted_any(sites->options.wanted) || !setns(sites->home_fd, CLONE_NEWNET)))
		return 0;
	log_error("--netns: entering network namespaces: %s%s", strerror(errno),
		  errno == EPERM ? ", it takes CAP_SYS_ADMIN" : "");
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
		sweep(sites);
		sites_look(sites);
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

int sites_fd(const struct sites *sites)
{
	return links_monitor_fd(sites->monitor);
}

int sites_update(struct sites *sites)
{
	int err = links_monitor_read(sites->monitor);

	if (err != -ENOBUFS)
		return err;
	log_warning("news of devices were lost; reading all devices again");
	return read_all(sites);
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

void sites_close(struct sites *sites)
{
	if (!sites)
		return;
	for (size_t i = 0; i < sites->count; i++)
		release(sites->table[i]);
	links_monitor_close(sites->monitor);
	search_free(&sites->search);
	cleanup_close(&sites->home_fd);
	free(sites->table);
	free(sites);
}
