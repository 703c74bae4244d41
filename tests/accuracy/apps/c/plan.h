// SPDX-License-Identifier: Apache-2.0
/*
 * What the C applications of the matrix share: a request's plan, the text of a call, sockets.
 *
 * The target is the plan: /BEFORE/BETWEEN/AFTER/CALLS/MODE, pauses in ms. MODE is where the calls
 * come from; each program says which it knows. Of the request's fields only x-truth goes on.
 */
#ifndef ACCURACY_PLAN_H
#define ACCURACY_PLAN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAD_MAX     4096
#define CALL_MAX     256
#define ANSWER_OK    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define ANSWER_CLOSE "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
#define LAST_BYTES   "\r\n\r\nok" /* of the upstream's answers, too */

struct plan {
	unsigned before, between, after; /* ms */
	unsigned calls;
	char mode;
	char truth[64]; /* empty: none came */
	bool close;     /* the client asked for it */
};

/* Reads a head that ends with '\0'. Returns 0 or -EINVAL. */
int plan_read(const char *head, struct plan *ret_plan);

/* Writes a request to the upstream; returns its length. */
size_t call_text(const char *truth, char text[CALL_MAX]);

/* "ADDRESS:PORT", both numbers. Ends the program with a message when it is anything else. */
struct sockaddr_in address_of(const char *text);

/* A listening socket; ends the program with a message when there can be none. */
int listen_at(const struct sockaddr_in *address, int flags);

/* No Nagle: a request here is one small packet. */
void set_nodelay(int fd);

/* The number in an environment variable, or `otherwise`. */
unsigned long env_number(const char *name, unsigned long otherwise);

/* The upstream that the environment names (UPSTREAM). */
struct sockaddr_in upstream_address(void);

#endif
