/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which Host fields are answered. A page of a stranger can have its own name lead to this host (DNS
 * rebinding) and would then read what is answered to that name; it cannot do so with an address, or
 * with a name that is not its own.
 */
#ifndef CTXPROP_WEB_HOSTS_H
#define CTXPROP_WEB_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#define WEB_HOSTS_MAX 16

/* Names beside localhost. */
struct web_hosts {
	const char *name[WEB_HOSTS_MAX];
	size_t count;
};

/* Add a name, which must outlive this. 0 or -E2BIG. */
int web_hosts_add(struct web_hosts *hosts, const char *name);

/*
 * Is this Host field answered? Addresses are, localhost, and the names that were added; so is none
 * at all (NULL), which no browser sends.
 */
bool web_hosts_allow(const struct web_hosts *hosts, const char *field);

#endif
