// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "inspect/mapping.h"

/* A number that ends with this character, which is passed over. 0 or -EINVAL. */
static int parse_number(char **at, int base, char end, __u64 *ret)
{
	char *behind;

	/* strtoull() would take blanks and signs, too. */
	if (**at == ' ' || **at == '-' || **at == '+')
		return -EINVAL;
	*ret = strtoull(*at, &behind, base);
	if (behind == *at || *behind != end)
		return -EINVAL;
	*at = behind + 1;
	return 0;
}

static int parse_device(char **at, struct mapping *mapping)
{
	__u64 major, minor;

	if (parse_number(at, 16, ':', &major) || parse_number(at, 16, ' ', &minor))
		return -EINVAL;
	mapping->major = (__u32)major;
	mapping->minor = (__u32)minor;
	return 0;
}

/* START-END RIGHTS OFFSET MAJOR:MINOR INODE PATH */
int mapping_parse(char *line, struct mapping *ret_mapping)
{
	struct mapping mapping = {};
	char *at = line;

	line[strcspn(line, "\n")] = '\0';
	if (parse_number(&at, 16, '-', &mapping.start) || parse_number(&at, 16, ' ', &mapping.end))
		return -EINVAL;
	if (strlen(at) < strlen("rwxp ") || at[4] != ' ')
		return -EINVAL;
	mapping.executable = at[2] == 'x';
	at += strlen("rwxp ");
	if (parse_number(&at, 16, ' ', &mapping.offset) || parse_device(&at, &mapping) ||
	    parse_number(&at, 10, ' ', &mapping.inode))
		return -EINVAL;
	mapping.path = at + strspn(at, " ");
	if (mapping.end <= mapping.start)
		return -EINVAL;
	*ret_mapping = mapping;
	return 0;
}

static void cleanup_file(FILE **file)
{
	if (*file)
		fclose(*file);
}

static FILE *open_maps(int proc_fd)
{
	int fd = openat(proc_fd, "maps", O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

int mapping_each(int proc_fd, int (*visit)(const struct mapping *mapping, void *data), void *data)
{
	__attribute__((cleanup(cleanup_file))) FILE *maps = open_maps(proc_fd);
	_cleanup_free_ char *line = NULL;
	struct mapping mapping;
	size_t room = 0;
	int result = 0;

	if (!maps)
		return -errno;
	while (!result && getline(&line, &room, maps) > 0)
		if (!mapping_parse(line, &mapping))
			result = visit(&mapping, data);
	return result;
}
