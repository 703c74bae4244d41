/* SPDX-License-Identifier: Apache-2.0 */
/* Where HTTP is listened for. */
#ifndef CTXPROP_WEB_LISTEN_H
#define CTXPROP_WEB_LISTEN_H

#include <sys/socket.h>

#define WEB_ADDRESS "127.0.0.1:9464"

struct web_address {
	struct sockaddr_storage address;
	socklen_t size;
};

/* "127.0.0.1:9464", "[127.0.0.1]:9464" or "[::1]:9464". 0 or -EINVAL. */
int web_address_parse(const char *text, struct web_address *ret_address);

/* A socket that listens there, or -errno. */
int web_listen(const struct web_address *address);

#endif
