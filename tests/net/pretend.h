/* SPDX-License-Identifier: Apache-2.0 */
/* How the threads of a server (pretender.c) pretend to be those of a runtime, and lie. */
#ifndef NET_PRETEND_H
#define NET_PRETEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PRETEND_WILD 0xdead0000dead0ULL /* nothing is there, in no process */

struct pretense {
	const char *name;
	bool hands_over; /* another thread makes the calls */
	void (*begin)(void *library);
	void (*take)(int fd); /* the current thread takes requests of this connection from now on */
	void (*works)(void);  /* the current thread makes others' calls from now on; or NULL */
	/* Write a call, as write() does; or NULL. */
	ssize_t (*write)(int fd, const void *text, size_t size);
};

extern const struct pretense pretend_ruby, pretend_node, pretend_java;

/* Is this the kind of lie that is asked for? */
bool pretend_is(const char *how);

#endif
