/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions that were found before, so that a profile that goes on for long reads a file
 * only for functions that are new. They hold for one struct files.
 */
#ifndef CTXPROP_PROFILE_NAMES_NAME_CACHE_H
#define CTXPROP_PROFILE_NAMES_NAME_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "profile/names/kernel_names.h"

struct name_cache;

/* NULL: no memory. */
struct name_cache *name_cache_new(void);
void name_cache_free(struct name_cache *known);

/*
 * Is an address of a file known? Its function is put into `ret_name`, and valid until
 * name_cache_free(); NULL: it is known to have no name.
 */
bool name_cache_find(const struct name_cache *known, int file, __u32 address,
		     const char **ret_name);

/* From `start` to before `end` a file has this function, or none (NULL). 0 or -ENOMEM. */
int name_cache_add(struct name_cache *known, int file, __u32 start, __u32 end, const char *name);

/* Per cent of what is to be kept at most. */
unsigned int name_cache_used(const struct name_cache *known);

/* The kernel's functions; they go with the other ones. */
struct kernel_names *name_cache_kernel(struct name_cache *known);

#endif
