/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of sites.h share: the set (sites.c), which knows nothing of the others; news
 * (sites_news.c) and orders (sites_orders.c), which work on it; the start (sites_open.c), which
 * calls all three.
 */
#ifndef CTXPROP_SITES_INSIDE_H
#define CTXPROP_SITES_INSIDE_H

#include "daemon/search.h"
#include "daemon/sites.h"
#include "load/links.h"

/* The hexadecimal cookie of a namespace, as a name. */
#define COOKIE_TEXT_MAX 20

struct sites {
	struct sites_options options;
	struct links_monitor *monitor;
	struct search search;
	struct site **table; /* the own namespace first */
	char *dropped;       /* cookies of namespaces that are left alone, as names */
	char *taken;         /* and of those that are wanted besides */
	size_t count;
	int home_fd;
	bool inside; /* another namespace than the own one */
	__u64 looked_ns, look_at_ns;
};

/* The site whose cookie has this low half, or NULL. */
struct site *sites_find(const struct sites *sites, __u32 netns);

/* Does an inode number belong to one of the sites (`data`: struct sites)? */
bool sites_know(ino_t inode, void *data);

/* Room for one more, which is not counted yet; NULL: no memory. */
struct site *sites_make_room(struct sites *sites);

/* Tell the programs which namespaces there are. */
void sites_publish(const struct sites *sites);

/* Enter the namespace of a descriptor, or of a site, until sites_leave(). 0 or -errno. */
int sites_enter_fd(struct sites *sites, int fd, __u64 *ret_cookie);
int sites_enter_known(struct sites *sites, struct site *site);

/* Work in one more namespace, as search.meet. */
int sites_meet(const struct netns_way *way, int fd, ino_t inode, bool again, void *data);

/* One less: out of the set; and freed. */
void sites_take_out(struct sites *sites, const struct site *site);
void sites_release(struct site *site);

/* Subscribe to news. 0 or -errno, which was logged. */
int sites_listen(struct sites *sites);

/* Forget the flows of namespaces that ended while no daemon ran. */
void sites_sweep(struct sites *sites);

/* What was ordered of earlier daemons: which namespaces to leave alone, and to take besides. */
void sites_read_names(struct sites *sites);
void sites_find_taken(struct sites *sites);

/* A name for a cookie, in COOKIE_TEXT_MAX bytes. */
void sites_name(char *ret_name, __u64 cookie);

#endif
