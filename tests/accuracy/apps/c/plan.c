// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plan.h"

static void read_truth(const char *head, struct plan *plan)
{
	const char *field = strcasestr(head, "\r\nx-truth: ");
	size_t length;

	plan->truth[0] = '\0';
	if (!field)
		return;
	field += strlen("\r\nx-truth: ");
	length = strcspn(field, "\r");
	if (length < sizeof(plan->truth)) {
		memcpy(plan->truth, field, length);
		plan->truth[length] = '\0';
	}
}

int plan_read(const char *head, struct plan *ret_plan)
{
	struct plan plan;
	int found = sscanf(head, "GET /%u/%u/%u/%u/%c ", &plan.before, &plan.between, &plan.after,
			   &plan.calls, &plan.mode);

	if (found != 5)
		return -EINVAL;
	read_truth(head, &plan);
	plan.close = strcasestr(head, "\r\nconnection: close") != NULL;
	*ret_plan = plan;
	return 0;
}

size_t call_text(const char *truth, char text[CALL_MAX])
{
	const char *field = *truth ? "x-truth: " : "", *end = *truth ? "\r\n" : "";

	return (size_t)snprintf(text, CALL_MAX, "GET / HTTP/1.1\r\nHost: upstream\r\n%s%s%s\r\n",
				field, truth, end);
}

struct sockaddr_in address_of(const char *text)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	const char *colon = strrchr(text, ':');
	char host[INET_ADDRSTRLEN] = "";

	if (colon && (size_t)(colon - text) < sizeof(host))
		memcpy(host, text, (size_t)(colon - text));
	if (inet_pton(AF_INET, host, &address.sin_addr) != 1) {
		fprintf(stderr, "'%s' is no address; expected IPV4:PORT\n", text);
		exit(2);
	}
	address.sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
	return address;
}

int listen_at(const struct sockaddr_in *address, int flags)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, (const struct sockaddr *)address, sizeof(*address)) || listen(fd, 1024)) {
		perror("listen");
		exit(1);
	}
	return fd;
}

void set_nodelay(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

unsigned long env_number(const char *name, unsigned long otherwise)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 10) : otherwise;
}

struct sockaddr_in upstream_address(void)
{
	const char *text = getenv("UPSTREAM");

	return address_of(text ? text : "");
}
