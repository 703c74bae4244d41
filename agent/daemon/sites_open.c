// SPDX-License-Identifier: Apache-2.0
/* The start: the own namespace first, then those that are wanted besides. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "daemon/sites_inside.h"

static int open_home(struct sites *sites, const struct pins *pins, int *lock_fd)
{
	struct site *site = sites_make_room(sites);

	if (!site)
		return -ENOMEM;
	sites->count++;
	site->cookie = sites->options.cookie;
	site->pins = *pins;
	site->lock_fd = take_fd(lock_fd);
	sites_publish(sites);
	return site_open_home(site, sites->options.engine, sites->options.way);
}

/* Where it is still possible to come home. */
static int open_way_home(struct sites *sites)
{
	sites->home_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (sites->home_fd >= 0 &&
	    (!wanted_any(sites->options.wanted) || !setns(sites->home_fd, CLONE_NEWNET)))
		return 0;
	log_error("netns-failed", "--netns: cannot enter network namespaces: %s%s", strerror(errno),
		  errno == EPERM ? ", it takes CAP_SYS_ADMIN" : "");
	return -errno;
}

static int start(struct sites *sites, const struct pins *home, int lock_fd)
{
	int err = open_way_home(sites);

	if (!err)
		err = sites_listen(sites);
	if (!err)
		err = open_home(sites, home, &lock_fd);
	cleanup_close(&lock_fd);
	if (!err && wanted_any(sites->options.wanted)) {
		sites_read_names(sites);
		sites_sweep(sites);
		sites_look(sites);
		sites_find_taken(sites);
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
	    .wanted = options->wanted, .is_known = sites_know, .meet = sites_meet, .data = sites};
	err = start(sites, home, lock_fd);
	if (err)
		sites_close(sites);
	else
		*ret_sites = sites;
	return err;
}
