/* SPDX-License-Identifier: Apache-2.0 */
/* A sample of a message as people read it: by endpoint, from the outermost frame to the innermost.
 */
#ifndef CTXPROP_PROFILE_MESSAGE_PATH_H
#define CTXPROP_PROFILE_MESSAGE_PATH_H

#include <stdbool.h>

#include "profile/message/message.h"

/* By which values samples are counted: types of values, added up. */
struct message_weight {
	const struct message *message;
	const char *unit; /* of pprof: "count", "nanoseconds" */
	size_t times;     /* so many, all values that are times; 0: one type */
	size_t type;
};

/* The type of values of this name ("cpu"). 0, or -ENOENT: there is none. */
int message_type(const struct message *message, const char *name, size_t *ret);

/* The type of values to show; the last one, unless the message says another. */
size_t message_default_type(const struct message *message);

/*
 * For how much samples were taken: time, if there are types of that; else the default type.
 */
struct message_weight message_by_time(const struct message *message);

/*
 * By number, if samples are counted and all of them are of the same kind; else by time, since
 * numbers of samples on the CPU and of waits do not add up.
 */
struct message_weight message_by_count(const struct message *message);

/* Do two messages have the same values, so that they can be compared? */
bool message_weights_fit(const struct message_weight *one, const struct message_weight *other);

/* What a sample counts, in the unit of `weight`. */
__u64 message_weigh(const struct message_weight *weight, const Perftools__Profiles__Sample *sample);

/* What all samples of the message count. */
__u64 message_weigh_all(const struct message_weight *weight);

enum step_kind { STEP_NATIVE, STEP_KERNEL, STEP_NAMED, STEP_WAIT };

struct message_step {
	const char *name;
	const char *file; /* of its source or code; empty: not known; NULL: it is no function */
	enum step_kind kind;
};

/* All zero is an empty one. */
struct message_path {
	struct message_step *step;
	size_t count, room;
	char title[1280], wait[64]; /* of which some steps are */
};

/*
 * The steps of a sample: service and endpoint, unless they are left out; tag; process; why outer
 * frames are missing; functions; what it waits for. What a program other than ours does not say is
 * left out. They are valid until the next call. 0 or -ENOMEM.
 */
int message_path(struct message_path *path, const struct message *message,
		 const Perftools__Profiles__Sample *sample, bool with_endpoint);
void message_path_free(struct message_path *path);

/* Into `buffer`: the service and the endpoint of a sample. Empty: it says none. */
void message_title(const struct message *message, const Perftools__Profiles__Sample *sample,
		   char *buffer, size_t size);

#endif
