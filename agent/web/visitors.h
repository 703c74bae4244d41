/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is connected to the server, and for how long: a connection has a time for its request, for
 * its answer and between two of them, however it spends it. Where there are too many, the one that
 * has kept the server waiting for longest goes, of the same address if that has more than its
 * share: so who comes and asks at once is always heard.
 */
#ifndef CTXPROP_WEB_VISITORS_H
#define CTXPROP_WEB_VISITORS_H

#include <sys/socket.h>

#define VISITORS_MAX   64 /* that stay */
#define VISITORS_SHARE 32 /* of one address (IPv6: one /64) */
#define VISITORS_GOING 64 /* that were cut off, and have not gone yet */

struct visitors;
struct visitor;

/* Begins a thread, which sees to the times. NULL: no memory. */
struct visitors *visitors_new(void);

/* After the last one has left. */
void visitors_free(struct visitors *visitors);

/*
 * Somebody has connected, as this socket, which stays open until visitor_left(). NULL: there is no
 * room, not even for those that have to go.
 */
struct visitor *visitor_came(struct visitors *visitors, int fd, const struct sockaddr *address);

/* His request is there as a whole: now he waits for us. */
void visitor_asked(struct visitors *visitors, struct visitor *visitor);

/* His answer is on its way: now we wait for him. */
void visitor_answered(struct visitors *visitors, struct visitor *visitor);

/* He has it, and may ask again. */
void visitor_done(struct visitors *visitors, struct visitor *visitor);

void visitor_left(struct visitors *visitors, struct visitor *visitor);

/* How many others of his address have asked, and wait for an answer. */
unsigned int visitor_rivals(struct visitors *visitors, const struct visitor *visitor);

#endif
