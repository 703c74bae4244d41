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

/* Behind so many words, and the blanks that follow them. */
static char *behind(char *text, int words)
{
	for (int i = 0; i < words; i++) {
		text += strspn(text, " ");
		text += strcspn(text, " ");
	}
	return text + strspn(text, " ");
}

/*
 * A line of /proc/PID/maps: START-END RIGHTS OFFSET DEVICE INODE PATH. Does it cover the address?
 * Then it says which file, and where.
 */
static bool read_mapping(char *line, __u64 address, struct place *ret)
{
	unsigned long start, end;
	char *at;

	start = strtoul(line, &at, 16);
	end = *at == '-' ? strtoul(at + 1, &at, 16) : 0;
	if (address < start || address >= end)
		return false;
	at = behind(at, 1);
	ret->offset = address - start + strtoul(at, &at, 16);
	at = behind(at, 2);
	at[strcspn(at, "\n")] = '\0';
	snprintf(ret->module, sizeof(ret->module), "%s", *at ? at : "[anonymous]");
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
