// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>
#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "base/text.h"
#include "web/listen.h"

#define BACKLOG 64

static int fill(struct web_address *ret_address, int family, const char *host, unsigned long port)
{
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&ret_address->address;
	struct sockaddr_in *four = (struct sockaddr_in *)&ret_address->address;

	*ret_address = (struct web_address){.address.ss_family = (sa_family_t)family};
	if (family == AF_INET6) {
		six->sin6_port = htons((in_port_t)port);
		ret_address->size = sizeof(*six);
		return inet_pton(family, host, &six->sin6_addr) == 1 ? 0 : -EINVAL;
	}
	four->sin_port = htons((in_port_t)port);
	ret_address->size = sizeof(*four);
	return inet_pton(family, host, &four->sin_addr) == 1 ? 0 : -EINVAL;
}

int web_address_parse(const char *text, struct web_address *ret_address)
{
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : 0;
	char host[INET6_ADDRSTRLEN + 2];
	unsigned long port;

	if (!length || length >= sizeof(host) || number_parse(colon + 1, 1, 65535, &port))
		return -EINVAL;
	text_copy(host, length + 1, text);
	if (host[0] != '[')
		return fill(ret_address, AF_INET, host, port);
	if (host[length - 1] != ']')
		return -EINVAL;
	host[length - 1] = '\0';
	return fill(ret_address, strchr(host, ':') ? AF_INET6 : AF_INET, host + 1, port);
}

int web_listen(const struct web_address *address)
{
	_cleanup_close_ int fd =
	    socket(address->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int yes = 1;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) ||
	    bind(fd, (const struct sockaddr *)&address->address, address->size) ||
	    listen(fd, BACKLOG))
		return -errno;
	return take_fd(&fd);
}
