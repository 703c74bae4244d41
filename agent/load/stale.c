// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "base/netns_all.h"
#include "load/stale.h"
#include "load/tcx.h"

/* What the search for stale pins carries along. */
struct search {
	const struct pins *own;
	struct netns_set living; /* only if all_known */
	bool all_known;
	int removed;
};

/* What the pinned links of a namespace tell of it. */
struct links_seen {
	unsigned int attached, dead;
};

static int is_other(const char *path, const char *name, void *data)
{
	const struct pins *own = data;

	(void)name;
	return strcmp(path, own->netns_dir) != 0;
}

static int look_at_link(const char *path, const char *name, void *data)
{
	_cleanup_close_ int fd = bpf_obj_get(path);
	struct links_seen *seen = data;
	int ifindex, err;

	(void)name;
	if (fd < 0)
		return fd;
	err = tcx_link_ifindex(fd, &ifindex);
	if (err)
		return err;
	seen->attached += ifindex != 0;
	seen->dead += ifindex == 0;
	return 0;
}

static int look_at_layer(const char *path, const char *name, void *data)
{
	char links[PINS_PATH_MAX];

	(void)name;
	return pins_each(pins_join(links, path, "links"), look_at_link, data);
}

/*
 * Links die with their devices: where all are dead nothing is attached. Classifiers of clsact
 * leave no such trace, so without links the namespace itself must be known to be gone.
 */
static bool is_stale(const struct search *search, const char *path, __u64 cookie)
{
	struct links_seen seen = {};

	if (pins_each(path, look_at_layer, &seen) || seen.attached)
		return false;
	return seen.dead || (search->all_known && !netns_set_has(&search->living, cookie));
}

static int remove_if_stale(const char *path, const char *name, void *data)
{
	struct search *search = data;
	struct pins pins;
	char *end;
	__u64 cookie = strtoull(name, &end, 16);

	if (*end || !is_other(path, name, (void *)search->own))
		return 0;
	pins_name(cookie, &pins);
	_cleanup_close_ int lock = pins_lock_existing(&pins);

	if (lock >= 0 && is_stale(search, path, cookie) && !pins_remove_tree(path))
		search->removed++;
	return 0;
}

int stale_remove(const struct pins *own)
{
	struct search search = {.own = own};
	int err = pins_each(PINS_ROOT, is_other, (void *)own);

	/* Nearly always there are no others, and nothing to look for. */
	if (err <= 0)
		return err == -ENOENT ? 0 : err;
	search.all_known = !netns_find_all(&search.living);
	err = pins_each(PINS_ROOT, remove_if_stale, &search);
	netns_set_free(&search.living);
	return err ? err : search.removed;
}
