// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/names.h"
#include "base/netns.h"
#include "base/proc.h"
#include "daemon/sites_inside.h"
#include "load/nsid.h"

#define NS_PER_MS (NS_PER_SECOND / 1000)
/* How long it takes at most to find a namespace without an event: */
#define LOOK_INTERVAL_NS (5 * NS_PER_SECOND)

struct site *sites_find(const struct sites *sites, __u32 netns)
{
	for (size_t i = 0; i < sites->count; i++)
		if ((__u32)sites->table[i]->cookie == netns)
			return sites->table[i];
	return NULL;
}

bool sites_know(ino_t inode, void *data)
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
int sites_enter_fd(struct sites *sites, int fd, __u64 *ret_cookie)
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

int sites_enter_known(struct sites *sites, struct site *site)
{
	__u64 cookie = 0;
	int err;

	if (!site->inode)
		return 0;
	_cleanup_close_ int fd = search_reopen(site->inode, site->path);

	err = fd < 0 ? fd : sites_enter_fd(sites, fd, &cookie);
	if (err || cookie == site->cookie)
		return err;
	/* The id of a namespace that is gone was given to another one. */
	sites_leave(sites);
	return -ENOENT;
}

int sites_enter(struct sites *sites, __u32 netns)
{
	struct site *site = sites_find(sites, netns);

	return site ? sites_enter_known(sites, site) : -ENOENT;
}

struct site *sites_make_room(struct sites *sites)
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

void sites_release(struct site *site)
{
	site_close(site);
	free(site);
}

void sites_name(char *ret_name, __u64 cookie)
{
	snprintf(ret_name, COOKIE_TEXT_MAX, "%llx", (unsigned long long)cookie);
}

/* Inside the namespace: let the programs work there. */
static int open_site(struct sites *sites, struct site *site)
{
	char name[COOKIE_TEXT_MAX];

	sites_name(name, site->cookie);
	if (site->cookie == sites->options.cookie || names_have(sites->dropped, name))
		return -EEXIST;
	return site_open(site, sites->options.engine, sites->table[0]);
}

void sites_publish(const struct sites *sites)
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

void sites_take_out(struct sites *sites, const struct site *site)
{
	for (size_t i = 0; i < sites->count; i++)
		if (sites->table[i] == site)
			sites->table[i] = sites->table[sites->count - 1];
	sites->count--;
	sites_publish(sites);
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

int sites_meet(const struct netns_way *way, int fd, ino_t inode, bool again, void *data)
{
	struct sites *sites = data;
	struct site *site = sites_make_room(sites);
	int err;

	if (!site)
		return -ENOMEM;
	site->inode = inode;
	snprintf(site->path, sizeof(site->path), "%s", way->path);
	name_site(site, way);
	snprintf(site->place, sizeof(site->place), "%s/", site->name);
	/* Subscribe to events before the devices are read. */
	site->nsid = nsid_of(fd);
	err = site->nsid < 0 ? site->nsid : sites_enter_fd(sites, fd, &site->cookie);
	if (!err)
		err = open_site(sites, site);
	sites_leave(sites);
	if (err == -EWOULDBLOCK && !again)
		log_warning("already-running",
			    "%s: another ctxpropd works in this network namespace (%s is locked)",
			    site->name, site->pins.netns_dir);
	if (err) {
		sites_release(site);
	} else {
		sites->count++;
		sites_publish(sites);
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

void sites_close(struct sites *sites)
{
	if (!sites)
		return;
	for (size_t i = 0; i < sites->count; i++)
		sites_release(sites->table[i]);
	links_monitor_close(sites->monitor);
	search_free(&sites->search);
	cleanup_close(&sites->home_fd);
	free(sites->dropped);
	free(sites->taken);
	free(sites->table);
	free(sites);
}
