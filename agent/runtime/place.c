// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "runtime/elf_image.h"
#include "runtime/place.h"

#define PROC_PATH_MAX 64

static void cleanup_file(FILE **file)
{
	if (*file)
		fclose(*file);
}

/* A line of /proc/PID/maps: does it cover the address? Then it says which file, and where. */
static bool read_mapping(const char *line, __u64 address, struct place *ret)
{
	unsigned long start, end, offset;
	int path = 0;

	if (sscanf(line, "%lx-%lx %*4s %lx %*s %*s %n", &start, &end, &offset, &path) != 3 ||
	    !path || address < start || address >= end)
		return false;
	snprintf(ret->module, sizeof(ret->module), "%s", line[path] ? line + path : "[anonymous]");
	ret->module[strcspn(ret->module, "\n")] = '\0';
	ret->offset = address - start + offset;
	return true;
}

static int find_mapping(__u32 tgid, __u64 address, struct place *ret)
{
	__attribute__((cleanup(cleanup_file))) FILE *maps = NULL;
	_cleanup_free_ char *line = NULL;
	char path[PROC_PATH_MAX];
	size_t size = 0;

	snprintf(path, sizeof(path), "/proc/%u/maps", tgid);
	maps = fopen(path, "re");
	if (!maps)
		return -ENOENT;
	while (getline(&line, &size, maps) > 0)
		if (read_mapping(line, address, ret))
			return 0;
	return -ENOENT;
}

/* The function, if the file can be read (as the process sees it) and has symbols. */
static void find_function(__u32 tgid, int returns, struct place *place)
{
	_cleanup_elf_image_ struct elf_image *image = NULL;
	char path[PATH_MAX + PROC_PATH_MAX];
	_cleanup_close_ int fd = -1;
	__u64 address, start;
	const char *name;

	if (place->module[0] != '/')
		return;
	snprintf(path, sizeof(path), "/proc/%u/root%s", tgid, place->module);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || elf_image_open(fd, &image) ||
	    elf_image_address(image, place->offset, &address) ||
	    elf_image_function(image, address - (returns != 0), &name, &start))
		return;
	snprintf(place->function, sizeof(place->function), "%s", name);
	place->into = address - start;
}

int place_find(__u32 tgid, __u64 address, int returns, struct place *ret_place)
{
	int err;

	*ret_place = (struct place){};
	err = find_mapping(tgid, address, ret_place);
	if (!err)
		find_function(tgid, returns, ret_place);
	return err;
}
