/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions that were found before, so that a profile that goes on for long reads a file
 * only for functions that are new. They hold for one struct files.
 */
#ifndef CTXPROP_PROFILE_KNOWN_NAMES_H
#define CTXPROP_PROFILE_KNOWN_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "profile/kernel_names.h"

struct known_names;

/* NULL: no memory. */
struct known_names *known_names_new(void);
void known_names_free(struct known_names *known);

/*
 * Is an address of a file known? Its function is put into `ret_name`, and valid until
 * known_names_free(); NULL: it is known to have no name.
 */
bool known_names_find(const struct known_names *known, int file, __u32 address,
		      const char **ret_name);

/* From `start` to before `end` a file has this function, or none (NULL). 0 or -ENOMEM. */
int known_names_add(struct known_names *known, int file, __u32 start, __u32 end, const char *name);

/* Per cent of what is to be kept at most. */
unsigned int known_names_used(const struct known_names *known);

/* The kernel's functions; they go with the other ones. */
struct kernel_names *known_names_kernel(struct known_names *known);

#endif
