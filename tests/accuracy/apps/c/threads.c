// SPDX-License-Identifier: Apache-2.0
/*
 * accuracy_threads ADDRESS:PORT: a thread per connection; modes as in blocking.h.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "blocking.h"
#include "plan.h"

static void *serve(void *fd)
{
	serve_connection((int)(intptr_t)fd, false);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = address_of(argc == 2 ? argv[1] : "");
	int listener = listen_at(&address, 0);

	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		pthread_t thread;

		if (fd < 0 || pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd)) {
			perror("accept");
			return EXIT_FAILURE;
		}
		pthread_detach(thread);
	}
}
