// SPDX-License-Identifier: Apache-2.0
/* Events of devices and namespaces. */
#include <errno.h>
#include <string.h>
#include <linux/rtnetlink.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/netns_all.h"
#include "daemon/sites_inside.h"
#include "load/nsid.h"

#define NS_PER_MS (NS_PER_SECOND / 1000)
/* After news: a container's network is not made in one step. And not more often than: */
#define LOOK_SOON_NS  (50 * NS_PER_MS)
#define LOOK_PAUSE_NS (500 * NS_PER_MS)

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
	sites_take_out(sites, site);
	site_forget(site);
	sites->options.on_gone(site->name, is_same, &netns, sites->options.data);
	sites_release(site);
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
	int err = sites_enter_known(sites, site);

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
	int err = sites_enter_known(sites, site);

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
int sites_listen(struct sites *sites)
{
	bool everywhere = wanted_any(sites->options.wanted);
	int err = links_monitor_open(everywhere, on_news, sites, &sites->monitor);

	if (err == -EPERM && everywhere)
		log_error("devices-unknown", "--netns: hearing of devices in other network "
					     "namespaces takes CAP_NET_BROADCAST");
	else if (err)
		log_error("devices-unknown", "cannot hear of network devices: %s", strerror(-err));
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

void sites_sweep(struct sites *sites)
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
