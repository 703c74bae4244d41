/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_FILTERED_H
#define CTXPROP_FILTERED_H

#include <netinet/in.h>

/*
 * Does the service manager filter the addresses that this process reaches, as IPAddressDeny= of a
 * unit of systemd does? Packets that are not allowed are dropped without an error, so it is said in
 * the log where spans are sent to (`url`, or NULL), or metrics are served at (`http`, or NULL),
 * another address than loopback. Takes CAP_NET_ADMIN; nothing is said without.
 */
void filtered_tell(const char *url, const struct sockaddr *http);

#endif
