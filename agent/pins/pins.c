// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "abi.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "pins/pins.h"

#define SET_ASIDE_MAX    1000
#define LOCK_PATIENCE_NS NS_PER_SECOND
#define LOCK_PAUSE_NS    20000000L

void pins_name(__u64 netns_cookie, struct pins *ret_pins)
{
	ret_pins->cookie = netns_cookie;
	snprintf(ret_pins->netns_dir, sizeof(ret_pins->netns_dir), PINS_ROOT "/%llx",
		 (unsigned long long)netns_cookie);
	snprintf(ret_pins->layer_dir, sizeof(ret_pins->layer_dir), PINS_ROOT "/%llx/v%d",
		 (unsigned long long)netns_cookie, CTXPROP_ABI_VERSION);
}

/* A path that does not fit becomes empty, which no call accepts. */
static const char *refuse_if_cut(char *buffer, int length)
{
	if (length >= PINS_PATH_MAX)
		buffer[0] = '\0';
	return buffer;
}

const char *pins_join(char *buffer, const char *dir, const char *name)
{
	return refuse_if_cut(buffer, snprintf(buffer, PINS_PATH_MAX, "%s/%s", dir, name));
}

const char *pins_map_path(char *buffer, const char *layer_dir, const char *map)
{
	return refuse_if_cut(buffer, snprintf(buffer, PINS_PATH_MAX, "%s/maps/%s", layer_dir, map));
}

int pins_mount(void)
{
	struct statfs fs;

	if (!statfs(PINS_BPFFS, &fs) && (unsigned long)fs.f_type == BPF_FS_MAGIC)
		return 0;
	if (mount("bpf", PINS_BPFFS, "bpf", 0, "mode=0700"))
		return -errno;
	return 0;
}

/* Whose directories may be used: root's, and our own. */
static bool is_ours(const struct stat *dir)
{
	return !dir->st_uid || dir->st_uid == geteuid();
}

/*
 * May a directory be used, with what is in it? In a sticky one others can make files, but not touch
 * ours. 0, -ENOENT and the like, or -EPERM and what is wrong in `ret_why`.
 */
static int check_dir(const char *path, bool sticky_will_do, char *ret_why)
{
	struct stat dir;

	ret_why[0] = '\0';
	if (lstat(path, &dir))
		return -errno;
	if (!S_ISDIR(dir.st_mode))
		snprintf(ret_why, PINS_WHY_MAX, "%s is not a directory: remove it", path);
	else if (!is_ours(&dir))
		snprintf(ret_why, PINS_WHY_MAX,
			 "%s is user %u's, who can put anything there: remove it", path,
			 dir.st_uid);
	else if (dir.st_mode & (S_IWGRP | S_IWOTH) && !(sticky_will_do && dir.st_mode & S_ISVTX))
		snprintf(
		    ret_why, PINS_WHY_MAX,
		    "%s can be written by others than root (mode %04o): remove it, or take that "
		    "away (chmod go-w) if you trust what is in it",
		    path, dir.st_mode & 07777);
	return ret_why[0] ? -EPERM : 0;
}

int pins_check(const struct pins *pins, char *ret_why)
{
	const char *const dirs[] = {PINS_ROOT, pins->netns_dir, pins->layer_dir};
	int err = check_dir(PINS_BPFFS, true, ret_why);

	for (size_t i = 0; !err && i < sizeof(dirs) / sizeof(dirs[0]); i++)
		err = check_dir(dirs[i], false, ret_why);
	return err == -EPERM && ret_why[0] ? err : 0;
}

static int make_dir(const char *path)
{
	char why[PINS_WHY_MAX];

	if (!mkdir(path, 0700))
		return 0;
	return errno == EEXIST ? check_dir(path, false, why) : -errno;
}

/* Is `fd` still what stands at `path`, or was it removed in between? */
static int same_file(int fd, const char *path)
{
	struct stat held, named;

	return !fstat(fd, &held) && !stat(path, &named) && held.st_ino == named.st_ino &&
	       held.st_dev == named.st_dev;
}

static const char *owner_path(char *buffer, const struct pins *pins)
{
	return pins_join(buffer, pins->netns_dir, "owner");
}

/* The directory of the daemon that has these pins beside its own; empty: there is none. */
static const char *read_owner(char ret_owner[PINS_PATH_MAX], const struct pins *pins)
{
	char path[PINS_PATH_MAX];
	ssize_t length = readlink(owner_path(path, pins), ret_owner, PINS_PATH_MAX - 1);

	ret_owner[length < 0 ? 0 : length] = '\0';
	return ret_owner;
}

/*
 * Is the daemon running that has taken these pins? Then it holds the lock of its own pins. `self`:
 * the directory that this process has locked itself, or empty.
 */
static bool is_owned(const struct pins *pins, const char *self)
{
	char owner[PINS_PATH_MAX];

	if (!*read_owner(owner, pins) || !strcmp(owner, self))
		return false;
	_cleanup_close_ int fd = open(owner, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
}

__u64 pins_owner(const struct pins *pins)
{
	static const char root[] = PINS_ROOT "/";
	char owner[PINS_PATH_MAX];

	if (!is_owned(pins, "") || strncmp(read_owner(owner, pins), root, sizeof(root) - 1) != 0)
		return 0;
	return strtoull(owner + sizeof(root) - 1, NULL, 16);
}

static int lock_existing(const struct pins *pins, const char *self)
{
	char why[PINS_WHY_MAX];
	int err = pins_check(pins, why);
	_cleanup_close_ int fd =
	    err ? -1 : open(pins->netns_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (err)
		return err;
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB))
		return -errno;
	if (!same_file(fd, pins->netns_dir))
		return -ESTALE;
	return is_owned(pins, self) ? -EWOULDBLOCK : take_fd(&fd);
}

int pins_lock_existing(const struct pins *pins)
{
	return lock_existing(pins, "");
}

int pins_lock_beside(const struct pins *pins, const struct pins *home)
{
	return lock_existing(pins, home->netns_dir);
}

static int lock_any(const struct pins *pins, const char *self)
{
	int fd = -ESTALE;

	/* A second try: `detach` may remove the directory between open and lock. */
	for (int try = 0; try < 2 && (fd == -ESTALE || fd == -ENOENT); try++) {
		int err = make_dir(PINS_ROOT);

		if (!err)
			err = make_dir(pins->netns_dir);
		if (err)
			return err;
		fd = lock_existing(pins, self);
	}
	return fd;
}

int pins_lock(const struct pins *pins)
{
	static const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
	__u64 end_ns = clock_now_ns() + LOCK_PATIENCE_NS;
	int fd = lock_any(pins, "");

	while (fd == -EWOULDBLOCK && clock_now_ns() < end_ns) {
		nanosleep(&pause, NULL);
		fd = lock_any(pins, "");
	}
	return fd;
}

int pins_own(const struct pins *pins, const struct pins *home)
{
	_cleanup_close_ int fd = lock_any(pins, home->netns_dir);
	char path[PINS_PATH_MAX];

	if (fd < 0)
		return fd;
	owner_path(path, pins);
	unlink(path);
	return symlink(home->netns_dir, path) ? -errno : 0;
}

void pins_disown(const struct pins *pins)
{
	char path[PINS_PATH_MAX];

	unlink(owner_path(path, pins));
}

int pins_make_layer(const char *layer_dir)
{
	static const char *const parts[] = {"maps", "progs", "links"};
	char path[PINS_PATH_MAX];
	int err = make_dir(layer_dir);

	for (size_t i = 0; !err && i < sizeof(parts) / sizeof(parts[0]); i++)
		err = make_dir(pins_join(path, layer_dir, parts[i]));
	return err;
}

int pins_set_aside(const struct pins *pins)
{
	char aside[PINS_PATH_MAX + 16];

	for (int i = 1; i < SET_ASIDE_MAX; i++) {
		/* bpffs refuses dots in names. */
		snprintf(aside, sizeof(aside), "%s-old%d", pins->layer_dir, i);
		if (access(aside, F_OK))
			return rename(pins->layer_dir, aside) ? -errno : 0;
	}
	return -EEXIST;
}

int pins_each(const char *dir, int (*visit)(const char *path, const char *name, void *data),
	      void *data)
{
	_cleanup_closedir_ DIR *entries = opendir(dir);
	struct dirent *entry;
	char path[PINS_PATH_MAX];
	int result = 0;

	if (!entries)
		return -errno;
	while (!result && (entry = readdir(entries))) {
		if (entry->d_name[0] != '.')
			result = visit(pins_join(path, dir, entry->d_name), entry->d_name, data);
	}
	return result;
}

/* Layers, and what they are called when they are set aside. */
struct layer_visit {
	int (*visit)(const char *path, const char *name, void *data);
	void *data;
};

static int visit_if_layer(const char *path, const char *name, void *data)
{
	const struct layer_visit *layers = data;

	return name[0] == 'v' ? layers->visit(path, name, layers->data) : 0;
}

int pins_each_layer(const struct pins *pins,
		    int (*visit)(const char *path, const char *name, void *data), void *data)
{
	struct layer_visit layers = {visit, data};

	return pins_each(pins->netns_dir, visit_if_layer, &layers);
}

static int remove_entry(const char *path, const char *name, void *data)
{
	(void)name;
	(void)data;
	if (!unlink(path))
		return 0;
	return errno == EISDIR || errno == EPERM ? pins_remove_tree(path) : -errno;
}

int pins_remove_tree(const char *dir)
{
	int err = pins_each(dir, remove_entry, NULL);

	if (err)
		return err;
	return rmdir(dir) ? -errno : 0;
}
