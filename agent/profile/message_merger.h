/* SPDX-License-Identifier: Apache-2.0 */
/* What a merger has gathered: message_merge.c fills it, message_merged.c makes a message of it. */
#ifndef CTXPROP_PROFILE_MESSAGE_MERGER_H
#define CTXPROP_PROFILE_MESSAGE_MERGER_H

#include "profile/counts.h"
#include "profile/message_merge.h"
#include "profile/unique.h"

#define MERGER_TYPES_MAX 32

/*
 * A thing in numbers: those of other things are their places plus 1, or 0 for none; those of texts
 * are their places.
 */
struct words {
	size_t count;
	uint64_t word[];
};

/* How the numbers stand in words. */
enum { MAPPING_START, MAPPING_LIMIT, MAPPING_OFFSET, MAPPING_FILE, MAPPING_BUILD, MAPPING_HAS };
enum { HAS_FUNCTIONS = 1, HAS_FILENAMES = 2, HAS_LINES = 4, HAS_INLINED = 8 };
enum { FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_LINE };
enum { LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_FOLDED, LOCATION_LINES /* function, line */ };
enum { LABEL_KEY, LABEL_TEXT, LABEL_NUMBER, LABEL_UNIT };
enum { SAMPLE_LOCATIONS /* how many; these, and then the labels */ };

struct merged_type {
	int64_t type, unit; /* texts */
	int64_t *value;     /* of each sample, by its place */
};

struct message_merger {
	struct arena arena;
	struct unique texts;                                  /* char */
	struct unique mappings, functions, locations, labels; /* struct words */
	struct unique samples, comments;                      /* struct words */
	struct unique counts;                                 /* struct count */
	struct merged_type type[MERGER_TYPES_MAX];
	size_t types, values_room;         /* of the values of each type */
	__u64 total;                       /* of all values */
	Perftools__Profiles__Profile head; /* numbers, and those of texts */
	int64_t period_type, period_unit;
	bool has_period, failed;
};

/*
 * The number of what is the same as `item` among those there are, a copy of it if it is new. 0 and
 * `failed`: no memory.
 */
size_t merger_put(struct message_merger *merger, struct unique *unique, __u64 hash,
		  const void *item, size_t size);
int64_t merger_put_text(struct message_merger *merger, const char *words);

#endif
