// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "pins/texts.h"

static const char *path_of(char *buffer, const struct pins *pins, const char *name)
{
	char dir[PINS_PATH_MAX];

	return pins_join(buffer, pins_join(dir, pins->netns_dir, "texts"), name);
}

static int make_dir(const struct pins *pins)
{
	char dir[PINS_PATH_MAX];

	return mkdir(pins_join(dir, pins->netns_dir, "texts"), 0700) && errno != EEXIST ? -errno
											: 0;
}

/* A map that holds the text with its end. The descriptor or -errno. */
static int make_map(const char *text)
{
	__u32 index = 0;
	_cleanup_close_ int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "text", sizeof(index),
						(__u32)strlen(text) + 1, 1, NULL);
	int err = fd < 0 ? fd : bpf_map_update_elem(fd, &index, text, BPF_ANY);

	return err ? err : take_fd(&fd);
}

int texts_put(const struct pins *pins, const char *name, const char *text)
{
	char path[PINS_PATH_MAX], next[PINS_PATH_MAX];
	_cleanup_close_ int fd = make_map(text);
	int err = fd < 0 ? fd : make_dir(pins);

	if (err)
		return err;
	path_of(path, pins, name);
	/* Pinned under another name and renamed, so that there is always a complete one. */
	path_of(next, pins, "next");
	unlink(next);
	err = bpf_obj_pin(fd, next);
	if (!err && rename(next, path))
		err = -errno;
	return err;
}

int texts_get(const struct pins *pins, const char *name, char **ret_text)
{
	char path[PINS_PATH_MAX];
	_cleanup_close_ int fd = bpf_obj_get(path_of(path, pins, name));
	_cleanup_free_ char *text = NULL;
	struct bpf_map_info info = {};
	__u32 size = sizeof(info), index = 0;
	int err = fd < 0 ? fd : bpf_obj_get_info_by_fd(fd, &info, &size);

	if (err)
		return err;
	text = malloc(info.value_size + 1);
	if (!text)
		return -ENOMEM;
	err = bpf_map_lookup_elem(fd, &index, text);
	if (err)
		return err;
	text[info.value_size] = '\0';
	*ret_text = text;
	text = NULL;
	return 0;
}

int texts_drop(const struct pins *pins, const char *name)
{
	char path[PINS_PATH_MAX];

	return unlink(path_of(path, pins, name)) && errno != ENOENT ? -errno : 0;
}
