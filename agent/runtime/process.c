// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "runtime/process.h"

const char *process_exe(char buffer[PROCESS_PATH_MAX], __u32 tgid)
{
	snprintf(buffer, PROCESS_PATH_MAX, "/proc/%u/exe", tgid);
	return buffer;
}

/* The kernel tells every program where its entry is, beside other things. */
int process_load_bias(__u32 tgid, __u64 entry, __u64 *ret_bias)
{
	_cleanup_close_ int fd = -1;
	char path[PROCESS_PATH_MAX];
	Elf64_auxv_t told[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/auxv", tgid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, told, sizeof(told));
	for (size_t i = 0; n > 0 && (i + 1) * sizeof(told[0]) <= (size_t)n; i++) {
		if (told[i].a_type != AT_ENTRY)
			continue;
		*ret_bias = told[i].a_un.a_val - entry;
		return 0;
	}
	return n < 0 ? -errno : -ENOENT;
}

/* A line of /proc/PID/maps: is this the file's beginning? Returns its path, else NULL. */
static const char *parse_mapping(char *line, const char *prefix, __u64 *ret_start)
{
	char *path = strchr(line, '/'), *name = path ? strrchr(path, '/') : NULL, *rest;
	const char *access;

	if (!name || strncmp(name + 1, prefix, strlen(prefix)) != 0)
		return NULL;
	*ret_start = strtoul(line, &rest, 16); /* START-END ACCESS OFFSET ... */
	access = strchr(rest, ' ');
	rest = access ? strchr(access + 1, ' ') : NULL;
	if (!rest || strtoul(rest, NULL, 16))
		return NULL;
	path[strcspn(path, "\n")] = '\0';
	return path;
}

int process_mapped(__u32 tgid, const char *prefix, char *ret_path, size_t size, __u64 *ret_start)
{
	char file[PROCESS_PATH_MAX], *line = NULL;
	const char *path = NULL;
	size_t room = 0;
	FILE *maps;

	snprintf(file, sizeof(file), "/proc/%u/maps", tgid);
	maps = fopen(file, "re");
	if (!maps)
		return -errno;
	while (!path && getline(&line, &room, maps) > 0)
		path = parse_mapping(line, prefix, ret_start);
	if (path && (size_t)snprintf(ret_path, size, "/proc/%u/root%s", tgid, path) >= size)
		path = NULL;
	fclose(maps);
	free(line);
	return path ? 0 : -ENOENT;
}

bool process_runs(__u32 tgid, const struct stat *file)
{
	char path[PROCESS_PATH_MAX];
	struct stat now;

	return !stat(process_exe(path, tgid), &now) && now.st_dev == file->st_dev &&
	       now.st_ino == file->st_ino;
}

const char *process_name(char *buffer, size_t size, __u32 tgid)
{
	char path[PROCESS_PATH_MAX];
	ssize_t n = readlink(process_exe(path, tgid), buffer, size - 1);

	buffer[n < 0 ? 0 : n] = '\0';
	return buffer;
}
