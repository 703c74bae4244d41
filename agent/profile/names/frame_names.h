/* SPDX-License-Identifier: Apache-2.0 */
/* The names of all frames of a profile, found when it is over. */
#ifndef CTXPROP_PROFILE_NAMES_FRAME_NAMES_H
#define CTXPROP_PROFILE_NAMES_FRAME_NAMES_H

#include "profile/take/profiler.h"
#include "profile/take/samples.h"

struct frame_names;

/*
 * Find them: in the files, and in /proc/kallsyms, unless they were found before; what is found is
 * added to what is known of the sampler, which outlives it. NULL: no memory.
 */
struct frame_names *frame_names_new(const struct samples *samples, const struct profiler *profiler);
void frame_names_free(struct frame_names *names);

/*
 * What to call a frame: a function; or FILE+0xADDRESS where none is known; or a word in brackets
 * for memory without one. Valid until frame_names_free().
 */
const char *frame_names_get(const struct frame_names *names, __u64 frame);

/* The file that a frame's code comes from ("kernel" for the kernel), or "". */
const char *frame_names_file(const struct frame_names *names, __u64 frame);

/* The line at which a frame's function begins; 0: not known. */
__u32 frame_names_line(const struct frame_names *names, __u64 frame);

/* The files that the names are from. */
const struct files *frame_names_files(const struct frame_names *names);

/* All frames that there are, by number. */
size_t frame_names_count(const struct frame_names *names);
__u64 frame_names_frame(const struct frame_names *names, size_t number);
size_t frame_names_number(const struct frame_names *names, __u64 frame);

#endif
