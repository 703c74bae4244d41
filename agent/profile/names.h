/* SPDX-License-Identifier: Apache-2.0 */
/* The names of all frames of a profile, found when it is over. */
#ifndef CTXPROP_PROFILE_NAMES_H
#define CTXPROP_PROFILE_NAMES_H

#include "profile/samples.h"
#include "profile/sampling.h"

struct names;

/*
 * Find them: in the files, and in /proc/kallsyms, unless they were found before; what is found is
 * added to what is known of the sampler, which outlives it. NULL: no memory.
 */
struct names *names_new(const struct samples *samples, const struct sampling *sampling);
void names_free(struct names *names);

/*
 * What to call a frame: a function; or FILE+0xADDRESS where none is known; or a word in brackets
 * for memory without one. Valid until names_free().
 */
const char *names_get(const struct names *names, __u64 frame);

/* The file that a frame's code comes from ("kernel" for the kernel), or "". */
const char *names_file(const struct names *names, __u64 frame);

/* The line at which a frame's function begins; 0: not known. */
__u32 names_line(const struct names *names, __u64 frame);

/* The files that the names are from. */
const struct files *names_files(const struct names *names);

/* All frames that there are, by number. */
size_t names_count(const struct names *names);
__u64 names_frame(const struct names *names, size_t number);
size_t names_number(const struct names *names, __u64 frame);

#endif
