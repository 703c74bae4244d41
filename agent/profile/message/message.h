/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile as one message of pprof. Files are read into it, filters and rules change it, and all
 * formats are written from it. It may come from any program, with any types of values and labels.
 */
#ifndef CTXPROP_PROFILE_MESSAGE_MESSAGE_H
#define CTXPROP_PROFILE_MESSAGE_MESSAGE_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>

#include "pprof.pb-c.h"
#include "profile/message/arena.h"

#define MESSAGE_WHY_MAX   192
#define MESSAGE_BYTES_MAX (256UL << 20) /* of a message that is not compressed */
#define MESSAGE_DEPTH_MAX 8192          /* of a stack: its locations and their functions */

/*
 * All references in it are valid, and the id of a mapping, a location or a function is its index
 * plus 1. Memory of what is added comes from the arena.
 */
struct message {
	struct arena arena;
	Perftools__Profiles__Profile *profile;
	char **texts;     /* the profile's table of texts, once some were added to it */
	size_t text_room; /* of `texts` */
};

/*
 * Read a message, compressed by gzip or not, which message_free() frees. Returns 0; -ENOMEM; or
 * -EINVAL or -EFBIG, with the reason in `ret_why`, which has room for MESSAGE_WHY_MAX.
 */
int message_parse(const __u8 *bytes, size_t size, struct message *ret, char *ret_why);

/* The same of a file, from where its descriptor stands; -errno without a reason: it cannot be read.
 */
int message_read_fd(int fd, struct message *ret, char *ret_why);
int message_read(const char *file, struct message *ret, char *ret_why);

/* Write it, compressed. 0, -ENOMEM or -EIO. */
int message_write(const struct message *message, FILE *out);
void message_free(struct message *message);

/*
 * A message of the samples for which `takes` returns true. It shares the memory of `message`, and
 * is not freed. 0 or -ENOMEM.
 */
int message_part(struct message *message,
		 bool (*takes)(const struct message *message,
			       const Perftools__Profiles__Sample *sample, const void *data),
		 const void *data, struct message *ret);

/* A text of its table. */
const char *message_text(const struct message *message, __s64 number);

/* The number of a text, which is put into the table if it is not there; -ENOMEM. */
__s64 message_add_text(struct message *message, const char *text);

/* The text of the first label of this key; empty: it has none, or a number. */
const char *message_label(const struct message *message, const Perftools__Profiles__Sample *sample,
			  const char *key);

/*
 * Is it the key of a label that ctxprop itself gives? Readers trust such labels (a link of OTLP, a
 * tag, a wait), so labels that programs give get a prefix if they have such a key.
 */
bool message_label_is_ours(const char *key);

/* How many functions a location has: of inlined calls several, the innermost first. */
size_t message_functions(const struct message *message, __u64 location);
const Perftools__Profiles__Function *message_function(const struct message *message, __u64 location,
						      size_t number);

/* The file that a location's code is from; empty: not known. */
const char *message_mapping(const struct message *message, __u64 location);

#endif
