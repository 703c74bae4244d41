// SPDX-License-Identifier: Apache-2.0
/*
 * stranger PORT FILE...: maps files as if they were libraries of its own, says so, and listens on a
 * port of 127.0.0.1 after a line on its standard input.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAPPED 4096

static int map(const char *path)
{
	int fd = open(path, O_RDONLY);
	void *at = mmap(NULL, MAPPED, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	close(fd);
	return at == MAP_FAILED ? -1 : 0;
}

static int serve(unsigned short port)
{
	const struct sockaddr_in here = {.sin_family = AF_INET,
					 .sin_port = htons(port),
					 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return bind(fd, (const struct sockaddr *)&here, sizeof(here)) || listen(fd, 8) ? -1 : 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	for (int i = 2; i < argc; i++)
		if (map(argv[i])) {
			perror(argv[i]);
			return 1;
		}
	puts("mapped");
	fflush(stdout);
	if (getchar() == EOF || serve((unsigned short)atoi(argv[1])))
		return 1;
	return pause();
}
