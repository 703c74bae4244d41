// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "base/netns.h"
#include "base/netns_all.h"
#include "base/netns_walk.h"

static bool knows_inode(const struct netns_set *set, __u64 inode)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->ids[i].inode == inode)
			return true;
	return false;
}

static int add(struct netns_set *set, __u64 inode, __u64 cookie)
{
	struct netns_id *ids = list_add(&set->ids, &set->count, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	*ids = (struct netns_id){inode, cookie};
	return 0;
}

/* Visit a namespace for its cookie. What vanished meanwhile, or is none, is no error. */
static int add_way(const struct netns_way *way, void *data)
{
	struct netns_set *set = data;
	_cleanup_close_ int fd = open(way->path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	__u64 cookie;
	int err;

	if (fd < 0)
		return errno == ENOENT || errno == ESRCH ? 0 : -errno;
	if (fstat(fd, &status))
		return -errno;
	if (knows_inode(set, status.st_ino))
		return 0;
	if (setns(fd, CLONE_NEWNET))
		return errno == EINVAL ? 0 : -errno;
	err = netns_cookie(&cookie);
	return err ? err : add(set, status.st_ino, cookie);
}

int netns_find_all(struct netns_set *ret_set)
{
	_cleanup_close_ int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int err;

	*ret_set = (struct netns_set){};
	if (home < 0)
		return -errno;
	err = netns_walk(true, add_way, ret_set);
	/* Going home cannot fail: this thread came from there and kept the right to setns(). */
	if (setns(home, CLONE_NEWNET) && ret_set->count)
		abort();
	return err;
}

bool netns_set_has(const struct netns_set *set, __u64 cookie)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->ids[i].cookie == cookie)
			return true;
	return false;
}

void netns_set_free(struct netns_set *set)
{
	free(set->ids);
	*set = (struct netns_set){};
}

struct search {
	__u64 cookie;
	struct netns_set met;
};

/* Returns 1 in the namespace that is looked for. What cannot be entered is not that one. */
static int enter_way(const struct netns_way *way, void *data)
{
	struct search *search = data;
	size_t before = search->met.count;

	return !add_way(way, &search->met) && search->met.count > before &&
	       search->met.ids[before].cookie == search->cookie;
}

int netns_enter_cookie(__u64 cookie)
{
	_cleanup_close_ int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	struct search search = {.cookie = cookie};
	int found;

	if (home < 0)
		return -errno;
	found = netns_walk(true, enter_way, &search);
	netns_set_free(&search.met);
	if (found > 0)
		return 0;
	return setns(home, CLONE_NEWNET) ? -errno : found ? found : -ENOENT;
}
