/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_OTLP_HOST_H
#define CTXPROP_OTLP_HOST_H

#include <stddef.h>

#define HTTP_PORT 80

/*
 * The value of a Host field in two: the name, without the brackets of an IPv6 address, into a
 * buffer of `size` bytes (cut where it does not fit), and the port, HTTP_PORT where none is named.
 * Returns 0, or -EINVAL for what is no host; nothing is written then.
 */
int host_split(const char *host, char *ret_name, size_t size, unsigned int *ret_port);

#endif
