// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/notify.h"

void notify_manager(const char *state)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const char *path = getenv("NOTIFY_SOCKET");
	size_t length = path ? strlen(path) : 0;

	if (length < 2 || length >= sizeof(to.sun_path) || (*path != '/' && *path != '@'))
		return;
	memcpy(to.sun_path, path, length);
	if (*path == '@')
		to.sun_path[0] = '\0'; /* the abstract namespace */

	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&to,
		       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
}
