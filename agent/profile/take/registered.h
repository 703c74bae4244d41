/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thread-local variables of programs that are labels of their samples: a file with a line for each,
 * which `ctxprop labels` changes and `ctxprop profile` reads.
 */
#ifndef CTXPROP_PROFILE_TAKE_REGISTERED_H
#define CTXPROP_PROFILE_TAKE_REGISTERED_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "profile/sample.h"

#define REGISTERED_PATH        "/var/lib/ctxprop/labels"
#define REGISTERED_MAX         32 /* of all programs */
#define REGISTERED_PROGRAM_MAX 256
#define REGISTERED_SYMBOL_MAX  128

struct registration {
	char program[REGISTERED_PROGRAM_MAX]; /* as /proc/PID/exe names it */
	char symbol[REGISTERED_SYMBOL_MAX];
	char label[PROFILE_LABEL_KEY];
	bool is_text; /* else a number */
};

struct registered {
	struct registration entry[REGISTERED_MAX];
	size_t count;
};

/*
 * Is it one that can be kept: an absolute path, and words without spaces or control codes? Returns
 * what is wrong with it, or NULL.
 */
const char *registration_wrong(const struct registration *registration);

/* Read the file; none is an empty list. 0, -EINVAL: it has lines of another kind, or -errno. */
int registered_read(const char *path, struct registered *ret_registered);

/* Write it, or leave the old one. 0 or -errno. */
int registered_write(const char *path, const struct registered *registered);

/* Add one, or replace that of the same program and label. 0, or -ENOSPC. */
int registered_add(struct registered *registered, const struct registration *registration);

/* Take out those of a program: of this label, or all (NULL). Returns how many. */
size_t registered_remove(struct registered *registered, const char *program, const char *label);

#endif
