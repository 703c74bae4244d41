/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cache of names of functions, so that a continuous profile reads a file only for new functions.
 * It belongs to one struct files.
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

/* Add: from `start` to before `end`, a file has this function, or none (NULL). 0 or -ENOMEM. */
int name_cache_add(struct name_cache *known, int file, __u32 start, __u32 end, const char *name);

/* How full the cache is, in per cent. */
unsigned int name_cache_used(const struct name_cache *known);

/* The kernel's functions; they go with the other ones. */
struct kernel_names *name_cache_kernel(struct name_cache *known);

#endif
