// SPDX-License-Identifier: Apache-2.0
/* Orders about whole namespaces. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/names.h"
#include "daemon/sites_inside.h"
#include "load/removal.h"
#include "pins/texts.h"

/* Texts with the cookies of namespaces. */
#define DROPPED_TEXT "dropped"
#define TAKEN_TEXT   "taken"

/* The search for the namespace of a cookie, which takes a visit to each. */
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

	if (fd < 0 || sites_know(inode, sites) || sites_enter_fd(sites, fd, &cookie))
		return 0;
	sites_leave(sites);
	sites_name(name, cookie);
	if (names_have(search->taken, name))
		search->err = sites_meet(way, fd, inode, true, sites);
	return 0;
}

/* Meet the namespaces of these cookies. -ENOENT: none was found; 0 or -errno of the last. */
static int find_taken(struct sites *sites, const char *taken)
{
	struct cookie_search search = {sites, taken, -ENOENT};

	netns_walk(true, meet_if_taken, &search);
	return search.err;
}

static int keep_names(const struct sites *sites)
{
	const struct pins *pins = &sites->table[0]->pins;
	int err = texts_put(pins, DROPPED_TEXT, sites->dropped ? sites->dropped : "");

	return err ? err : texts_put(pins, TAKEN_TEXT, sites->taken ? sites->taken : "");
}

void sites_find_taken(struct sites *sites)
{
	if (sites->taken && *sites->taken)
		find_taken(sites, sites->taken);
}

void sites_read_names(struct sites *sites)
{
	const struct pins *pins = &sites->table[0]->pins;

	/* There are none. */
	if (texts_get(pins, DROPPED_TEXT, &sites->dropped))
		sites->dropped = NULL;
	if (texts_get(pins, TAKEN_TEXT, &sites->taken))
		sites->taken = NULL;
}

struct site *sites_enter_site(struct sites *sites, __u64 cookie)
{
	for (size_t i = 0; i < sites->count; i++)
		if (sites->table[i]->cookie == (cookie ? cookie : sites->options.cookie))
			return sites_enter_known(sites, sites->table[i]) ? NULL : sites->table[i];
	return NULL;
}

int sites_drop(struct sites *sites, __u64 cookie)
{
	struct site *site = sites_enter_site(sites, cookie);
	char name[COOKIE_TEXT_MAX];
	int err;

	if (!site || !site->inode)
		return -ENOENT;
	sites_name(name, site->cookie);
	err = names_add(&sites->dropped, name);
	if (!err)
		err = site_remove(site);
	sites_leave(sites);
	if (err) {
		names_remove(sites->dropped, name);
		return err;
	}
	names_remove(sites->taken, name);
	log_info("netns-detached", "%s: detached", site->name);
	sites_take_out(sites, site);
	sites_release(site);
	return keep_names(sites);
}

int sites_take(struct sites *sites, __u64 cookie)
{
	char name[COOKIE_TEXT_MAX];
	int err;

	if (!wanted_any(sites->options.wanted))
		return -EPERM;
	sites_name(name, cookie);
	err = names_add(&sites->taken, name);
	if (!err) {
		names_remove(sites->dropped, name);
		err = keep_names(sites);
	}
	if (err || sites_find(sites, (__u32)cookie))
		return err;
	search_free(&sites->search); /* it may have been declined */
	return find_taken(sites, name);
}

int sites_remove(struct sites *sites)
{
	int result = 0;

	/* The own namespace last: it has the maps of all. */
	for (size_t i = sites->count; i-- > 0;) {
		int err = sites_enter_known(sites, sites->table[i]);

		if (!err)
			err = site_remove(sites->table[i]);
		sites_leave(sites);
		result = err ? err : result;
	}
	return result ? result : removal_finish();
}
