// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

#include "engine/unix_name.h"
#include "inspect/process.h"
#include "runtime/unix_names.h"

#define STREAM    1           /* SOCK_STREAM */
#define CONNECTED 3           /* SS_CONNECTED */
#define LISTENS   (1UL << 16) /* __SO_ACCEPTCON */

static const char *skip_fields(const char *line, int fields)
{
	for (; fields; fields--) {
		line += strcspn(line, " ");
		line += strspn(line, " ");
	}
	return line;
}

bool unix_names_match(const char *line)
{
	char name[UNIX_NAME_LENGTH] = "", *rest;
	/* Num: RefCount Protocol Flags Type St Inode Path */
	unsigned long flags = strtoul(skip_fields(line, 3), &rest, 16);
	unsigned long type = strtoul(rest, &rest, 16);
	unsigned long state = strtoul(rest, &rest, 16);

	strtoul(rest, &rest, 10);
	if (*rest != ' ')
		return false;
	snprintf(name, sizeof(name), "%s", rest + 1);
	return type == STREAM && ((flags & LISTENS) || state == CONNECTED) &&
	       !unix_name_is_system(name);
}

bool unix_names_near(__u32 tgid)
{
	char path[PROCESS_PATH_MAX], *line = NULL;
	bool found = false;
	size_t room = 0;
	FILE *sockets;

	snprintf(path, sizeof(path), "/proc/%u/net/unix", tgid);
	sockets = fopen(path, "re");
	if (!sockets)
		return false;
	while (!found && getline(&line, &room, sockets) > 0)
		found = unix_names_match(line);
	fclose(sockets);
	free(line);
	return found;
}
