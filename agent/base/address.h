/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of flow keys, as text. */
#ifndef CTXPROP_ADDRESS_H
#define CTXPROP_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define ADDRESS_TEXT_MAX  46 /* INET6_ADDRSTRLEN */
#define ENDPOINT_TEXT_MAX 54 /* with brackets, colon and port */

/* Is it an IPv4 address, mapped into IPv6 (::ffff:a.b.c.d)? */
bool address_is_ipv4(const __u8 address[16]);

/* "10.0.0.1" or "fd00::1" into a buffer of ADDRESS_TEXT_MAX bytes; returns it. */
const char *address_text(char *buffer, const __u8 address[16]);

/* "10.0.0.1:80" or "[fd00::1]:80" into a buffer of ENDPOINT_TEXT_MAX bytes; returns it. */
const char *address_endpoint(char *buffer, const __u8 address[16], __be16 port);

#endif
