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

#define LOOPBACK_PIN "1-in" /* the loopback device has index 1 in every namespace */

/* What the search for stale pins carries along. */
struct search {
	const struct pins *own;
	struct netns_set living; /* only if all_known */
	bool all_known;
	int removed;
};

static int is_other(const char *path, const char *name, void *data)
{
	const struct pins *own = data;

	(void)name;
	return strcmp(path, own->netns_dir) != 0;
}

/*
 * A link is dead when its device is gone, and the loopback device goes with its namespace. So the
 * link to it shows for sure whether the namespace exists. `data` becomes 1: gone, 0: there; it
 * stays as it is if there is no such link.
 */
static int loopback_is_gone(const char *path, const char *name, void *data)
{
	char pin[PINS_PATH_MAX], links[PINS_PATH_MAX];
	int *ret_gone = data, ifindex;

	(void)name;
	pins_join(links, path, "links");
	_cleanup_close_ int fd = bpf_obj_get(pins_join(pin, links, LOOPBACK_PIN));

	if (fd >= 0 && !tcx_link_ifindex(fd, &ifindex))
		*ret_gone = ifindex == 0;
	return 0;
}

/* With clsact there is no link; then the namespace itself must be known to be gone. */
static bool is_stale(const struct search *search, const struct pins *pins)
{
	int gone = -ENOENT;

	if (pins_each_layer(pins, loopback_is_gone, &gone))
		return false;
	if (gone == -ENOENT)
		return search->all_known && !netns_set_has(&search->living, pins->cookie);
	return gone;
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
	_cleanup_close_ int lock = pins_lock_beside(&pins, search->own);

	if (lock >= 0 && is_stale(search, &pins) && !pins_remove_tree(path))
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
