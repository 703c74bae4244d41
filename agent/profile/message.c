// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/foreign.h"
#include "base/gzip.h"
#include "base/utf8.h"
#include "profile/message.h"
#include "profile/message_check.h"
#include "profile/pprof_types.h"

#define MEMORY_MAX                                                                                 \
	(1UL << 30) /* of a message that was read: small parts may stand for large ones */

#define ROOM_FIRST 65536

/* Memory that protobuf-c takes, as long as there is some left. */
struct taking {
	struct arena *arena;
	size_t left;
	bool failed;
};

static void *take(void *data, size_t size)
{
	struct taking *taking = data;
	void *memory = NULL;

	if (size <= taking->left)
		memory = arena_alloc(taking->arena, size ? size : 1);
	if (memory)
		taking->left -= size;
	taking->failed = taking->failed || !memory;
	return memory;
}

static void leave(void *data, void *memory)
{
	(void)data;
	(void)memory;
}

/* Counts (counts.h) have fields with tabs between them, which stay. */
static void bring_in(char *to, size_t size, const char *from)
{
	const char *ends = *from == '#' ? "\t" : "";
	size_t length = strcspn(from, ends), used = foreign_copy_bytes(to, size, from, length);

	for (from += length; *from; from += length) {
		to[used++] = *from++;
		length = strcspn(from, ends);
		used += foreign_copy_bytes(to + used, size - used, from, length);
	}
}

/* Whoever wrote them. */
static int bring_texts_in(struct message *message)
{
	for (size_t i = 0; i < message->profile->n_string_table; i++) {
		char *from = message->profile->string_table[i];
		const size_t size = FOREIGN_GROWTH * strlen(from) + 1;
		char *to;

		if (utf8_is_line(from, false))
			continue;
		to = arena_alloc(&message->arena, size);
		if (!to)
			return -ENOMEM;
		bring_in(to, size, from);
		message->profile->string_table[i] = to;
	}
	return 0;
}

/* A location without a function has none; protobuf-c leaves texts out that are not there. */
static int unpack(const __u8 *bytes, size_t size, struct message *message, char *ret_why)
{
	struct taking taking = {.arena = &message->arena, .left = MEMORY_MAX};
	ProtobufCAllocator allocator = {take, leave, &taking};

	message->profile = perftools__profiles__profile__unpack(&allocator, size, bytes);
	if (message->profile && !bring_texts_in(message))
		return message_check(message, ret_why);
	taking.failed |= message->profile != NULL;
	snprintf(ret_why, MESSAGE_WHY_MAX,
		 taking.failed ? "it takes more memory than there is for it"
			       : "it is no profile of pprof, or half of one");
	return taking.failed ? -EFBIG : -EINVAL;
}

static bool is_compressed(const __u8 *bytes, size_t size)
{
	return size > 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

int message_parse(const __u8 *bytes, size_t size, struct message *ret, char *ret_why)
{
	_cleanup_free_ __u8 *plain = NULL;
	int err = 0;

	*ret = (struct message){};
	if (is_compressed(bytes, size)) {
		err = gunzip(bytes, size, MESSAGE_BYTES_MAX, &plain, &size);
		bytes = plain;
	} else if (size > MESSAGE_BYTES_MAX) {
		err = -EFBIG;
	}
	if (err == -EINVAL)
		snprintf(ret_why, MESSAGE_WHY_MAX, "it is no file of gzip, or half of one");
	if (err == -EFBIG)
		snprintf(ret_why, MESSAGE_WHY_MAX, "it is more than %lu MiB",
			 MESSAGE_BYTES_MAX >> 20);
	if (!err)
		err = unpack(bytes, size, ret, ret_why);
	if (err)
		message_free(ret);
	return err;
}

/* Room for more bytes, up to one more than there may be. 0 or -ENOMEM. */
static int make_room(__u8 **bytes, size_t *room)
{
	size_t larger = *room ? 2 * *room : ROOM_FIRST;
	__u8 *more;

	if (larger > MESSAGE_BYTES_MAX)
		larger = MESSAGE_BYTES_MAX + 1;
	more = realloc(*bytes, larger);
	if (!more)
		return -ENOMEM;
	*bytes = more;
	*room = larger;
	return 0;
}

/* Bytes from a descriptor, up to one more than there may be. 0 or -errno; the caller's in both. */
static int read_all(int fd, __u8 **bytes, size_t *ret_size)
{
	size_t room = 0, used = 0;
	ssize_t got = 1;

	while (got && used <= MESSAGE_BYTES_MAX) {
		if (used == room && make_room(bytes, &room))
			return -ENOMEM;
		got = read(fd, *bytes + used, room - used);
		if (got < 0 && errno != EINTR)
			return -errno;
		used += got > 0 ? (size_t)got : 0;
	}
	*ret_size = used;
	return 0;
}

int message_part(struct message *message,
		 bool (*takes)(const struct message *message, const Sample *sample,
			       const void *data),
		 const void *data, struct message *ret)
{
	const Profile *profile = message->profile;
	Profile *part = arena_alloc(&message->arena, sizeof(*part));
	Sample **samples = arena_alloc(&message->arena, (profile->n_sample + 1) * sizeof(Sample *));

	if (!part || !samples)
		return -ENOMEM;
	*part = *profile;
	part->sample = samples;
	part->n_sample = 0;
	for (size_t i = 0; i < profile->n_sample; i++)
		if (takes(message, profile->sample[i], data))
			samples[part->n_sample++] = profile->sample[i];
	*ret = (struct message){.profile = part};
	return 0;
}

int message_read_fd(int fd, struct message *ret, char *ret_why)
{
	_cleanup_free_ __u8 *bytes = NULL;
	size_t size = 0;
	int err = read_all(fd, &bytes, &size);

	*ret_why = '\0';
	return err ? err : message_parse(bytes, size, ret, ret_why);
}

int message_read(const char *file, struct message *ret, char *ret_why)
{
	_cleanup_close_ int fd = open(file, O_RDONLY | O_CLOEXEC);

	*ret_why = '\0';
	return fd < 0 ? -errno : message_read_fd(fd, ret, ret_why);
}

int message_write(const struct message *message, FILE *out)
{
	size_t size = perftools__profiles__profile__get_packed_size(message->profile), packed_size;
	_cleanup_free_ __u8 *bytes = malloc(size ? size : 1);
	_cleanup_free_ __u8 *packed = NULL;

	if (!bytes)
		return -ENOMEM;
	perftools__profiles__profile__pack(message->profile, bytes);
	if (gzip(bytes, size, &packed, &packed_size))
		return -ENOMEM;
	return fwrite(packed, 1, packed_size, out) == packed_size ? 0 : -EIO;
}

void message_free(struct message *message)
{
	arena_free(&message->arena);
	message->profile = NULL;
}

const char *message_text(const struct message *message, __s64 number)
{
	return message->profile->string_table[number];
}

static __s64 append_text(struct message *message, const char *text)
{
	Profile *profile = message->profile;
	const size_t count = profile->n_string_table, length = strlen(text);
	char **table = arena_alloc(&message->arena, (count + 1) * sizeof(*table));
	char *copy = arena_alloc(&message->arena, length + 1);

	if (!table || !copy)
		return -ENOMEM;
	memcpy(copy, text, length + 1);
	memcpy(table, profile->string_table, count * sizeof(*table));
	table[count] = copy;
	profile->string_table = table;
	profile->n_string_table = count + 1;
	return (__s64)count;
}

__s64 message_add_text(struct message *message, const char *text)
{
	for (size_t i = 0; i < message->profile->n_string_table; i++)
		if (!strcmp(message->profile->string_table[i], text))
			return (__s64)i;
	return append_text(message, text);
}

const char *message_label(const struct message *message, const Sample *sample, const char *key)
{
	for (size_t i = 0; i < sample->n_label; i++)
		if (!strcmp(message_text(message, sample->label[i]->key), key))
			return message_text(message, sample->label[i]->str);
	return "";
}

bool message_label_is_ours(const char *key)
{
	static const char *const ours[] = {
	    "endpoint", "service",    "process",        "pid",       "stack",
	    "status",   "latency_ms", "latency_bucket", "trace_id",  "span_id",
	    "wait",     "tag",        "context_source", "no_request"};

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (!strcmp(ours[i], key))
			return true;
	return false;
}

size_t message_functions(const struct message *message, __u64 location)
{
	return message->profile->location[location - 1]->n_line;
}

const Perftools__Profiles__Function *message_function(const struct message *message, __u64 location,
						      size_t number)
{
	const Location *place = message->profile->location[location - 1];

	return message->profile->function[place->line[number]->function_id - 1];
}

const char *message_mapping(const struct message *message, __u64 location)
{
	const __u64 mapping = message->profile->location[location - 1]->mapping_id;

	return mapping ? message_text(message, message->profile->mapping[mapping - 1]->filename)
		       : "";
}
