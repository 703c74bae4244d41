// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/foreign.h"
#include "base/gzip.h"
#include "base/utf8.h"
#include "profile/message/message.h"
#include "profile/message/pprof_types.h"

#define COUNT_MAX INT_MAX /* of anything: numbers of OTLP are int32 */

/* An id in the file, and the index of the item that has it. */
struct place {
	__u64 id, number;
};

struct checking {
	Profile *profile;
	char *why;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct checking *checking,
							const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(checking->why, MESSAGE_WHY_MAX, format, args);
	va_end(args);
	return -EINVAL;
}

/* Fields that are not known are not written again, since they may not be right any more. */
static void forget(ProtobufCMessage *message)
{
	message->n_unknown_fields = 0;
	message->unknown_fields = NULL;
}

static int compare(const void *a, const void *b)
{
	const struct place *first = a, *second = b;

	return (first->id > second->id) - (first->id < second->id);
}

/* In order of their ids, each of which may be there once and is not 0. */
static int sort(struct checking *checking, const char *what, struct place *place, size_t count)
{
	qsort(place, count, sizeof(*place), compare);
	for (size_t i = 0; i < count; i++)
		if (!place[i].id || (i && place[i].id == place[i - 1].id))
			return refuse(checking, "%s %llu occurs twice, or has no id", what,
				      place[i].id);
	return 0;
}

/* From an id of the file to a place plus 1. */
static int renumber(struct checking *checking, const char *what, const struct place *place,
		    size_t count, uint64_t *id)
{
	const struct place key = {.id = *id};
	const struct place *found = bsearch(&key, place, count, sizeof(*place), compare);

	if (!found)
		return refuse(checking, "there is no %s %llu", what, key.id);
	*id = found->number;
	return 0;
}

static bool is_text(const struct checking *checking, int64_t number)
{
	return number >= 0 && (__u64)number < checking->profile->n_string_table;
}

static int check_texts(struct checking *checking)
{
	const Profile *profile = checking->profile;

	if (!profile->n_string_table || *profile->string_table[0])
		return refuse(checking, "its first string is not empty");
	if (!is_text(checking, profile->drop_frames) || !is_text(checking, profile->keep_frames) ||
	    !is_text(checking, profile->doc_url))
		return refuse(checking, "a text of it is none");
	for (size_t i = 0; i < profile->n_comment; i++)
		if (!is_text(checking, profile->comment[i]))
			return refuse(checking, "a comment refers to a missing string");
	return 0;
}

static int check_type(struct checking *checking, ValueType *type)
{
	forget(&type->base);
	if (is_text(checking, type->type) && is_text(checking, type->unit))
		return 0;
	return refuse(checking, "a value type refers to a missing string");
}

static int check_types(struct checking *checking)
{
	const Profile *profile = checking->profile;
	int err = 0;

	if (!profile->n_sample_type)
		return refuse(checking, "it has no value types");
	if (!is_text(checking, profile->default_sample_type))
		return refuse(checking, "its default value type refers to a missing string");
	for (size_t i = 0; !err && i < profile->n_sample_type; i++)
		err = check_type(checking, profile->sample_type[i]);
	return !err && profile->period_type ? check_type(checking, profile->period_type) : err;
}

static int check_counts(struct checking *checking)
{
	const Profile *profile = checking->profile;

	if (profile->n_sample > COUNT_MAX || profile->n_location >= COUNT_MAX ||
	    profile->n_function >= COUNT_MAX || profile->n_mapping >= COUNT_MAX ||
	    profile->n_string_table > COUNT_MAX / 2)
		return refuse(checking, "it is too large");
	return 0;
}

static int number_mappings(struct checking *checking, struct place *place)
{
	for (size_t i = 0; i < checking->profile->n_mapping; i++) {
		Mapping *mapping = checking->profile->mapping[i];

		if (!is_text(checking, mapping->filename) || !is_text(checking, mapping->build_id))
			return refuse(checking,
				      "the file name of a mapping refers to a missing string");
		forget(&mapping->base);
		place[i] = (struct place){mapping->id, i + 1};
		mapping->id = i + 1;
	}
	return sort(checking, "mapping", place, checking->profile->n_mapping);
}

static int number_functions(struct checking *checking, struct place *place)
{
	for (size_t i = 0; i < checking->profile->n_function; i++) {
		Function *function = checking->profile->function[i];

		if (!is_text(checking, function->name) ||
		    !is_text(checking, function->system_name) ||
		    !is_text(checking, function->filename))
			return refuse(checking,
				      "the name of a function refers to a missing string");
		forget(&function->base);
		place[i] = (struct place){function->id, i + 1};
		function->id = i + 1;
	}
	return sort(checking, "function", place, checking->profile->n_function);
}

/* Lines without a function say nothing. */
static int check_lines(struct checking *checking, Location *location, const struct place *functions)
{
	size_t count = 0;
	int err = 0;

	for (size_t i = 0; !err && i < location->n_line; i++) {
		if (!location->line[i]->function_id)
			continue;
		err = renumber(checking, "function", functions, checking->profile->n_function,
			       &location->line[i]->function_id);
		forget(&location->line[i]->base);
		location->line[count++] = location->line[i];
	}
	location->n_line = count;
	return err;
}

static int number_locations(struct checking *checking, struct place *place,
			    const struct place *mappings, const struct place *functions)
{
	int err = 0;

	for (size_t i = 0; !err && i < checking->profile->n_location; i++) {
		Location *location = checking->profile->location[i];

		forget(&location->base);
		place[i] = (struct place){location->id, i + 1};
		location->id = i + 1;
		if (location->mapping_id)
			err = renumber(checking, "mapping", mappings, checking->profile->n_mapping,
				       &location->mapping_id);
		if (!err)
			err = check_lines(checking, location, functions);
	}
	return err ? err : sort(checking, "location", place, checking->profile->n_location);
}

static int check_labels(struct checking *checking, const Sample *sample)
{
	for (size_t i = 0; i < sample->n_label; i++) {
		Label *label = sample->label[i];

		forget(&label->base);
		if (!is_text(checking, label->key) || !is_text(checking, label->str) ||
		    !is_text(checking, label->num_unit))
			return refuse(checking, "a label refers to a missing string");
	}
	return 0;
}

/* `total`: of all samples and types up to here, which shares are made of. */
static int check_sample(struct checking *checking, Sample *sample, const struct place *locations,
			__u64 *total)
{
	int err = check_labels(checking, sample);

	forget(&sample->base);
	if (!err && sample->n_value != checking->profile->n_sample_type)
		return refuse(checking, "a sample has %zu values instead of %zu", sample->n_value,
			      checking->profile->n_sample_type);
	for (size_t i = 0; !err && i < sample->n_value; i++) {
		if (sample->value[i] < 0 || (__u64)sample->value[i] > LLONG_MAX - *total)
			return refuse(checking, "its values are negative, or too large");
		*total += (__u64)sample->value[i];
	}
	for (size_t i = 0; !err && i < sample->n_location_id; i++)
		err = renumber(checking, "location", locations, checking->profile->n_location,
			       &sample->location_id[i]);
	return err;
}

/* Trees of deeper ones could not be walked. */
static bool is_deep(const struct checking *checking, const Sample *sample)
{
	size_t depth = 0;

	for (size_t i = 0; i < sample->n_location_id && depth <= MESSAGE_DEPTH_MAX; i++)
		depth += 1 + checking->profile->location[sample->location_id[i] - 1]->n_line;
	return depth > MESSAGE_DEPTH_MAX;
}

static int check_samples(struct checking *checking, const struct place *locations)
{
	__u64 total = 0;
	int err = 0;

	for (size_t i = 0; !err && i < checking->profile->n_sample; i++) {
		err = check_sample(checking, checking->profile->sample[i], locations, &total);
		if (!err && is_deep(checking, checking->profile->sample[i]))
			return refuse(checking, "a stack is deeper than can be shown");
	}
	return err;
}

/* What samples refer to, from the inside out. */
static int number_all(struct checking *checking)
{
	const Profile *profile = checking->profile;
	_cleanup_free_ struct place *mappings = calloc(profile->n_mapping + 1, sizeof(*mappings));
	_cleanup_free_ struct place *functions =
	    calloc(profile->n_function + 1, sizeof(*functions));
	_cleanup_free_ struct place *locations =
	    calloc(profile->n_location + 1, sizeof(*locations));
	int err = mappings && functions && locations ? 0 : -ENOMEM;

	if (!err)
		err = number_mappings(checking, mappings);
	if (!err)
		err = number_functions(checking, functions);
	if (!err)
		err = number_locations(checking, locations, mappings, functions);
	return err ? err : check_samples(checking, locations);
}

/*
 * Check a message, and number its mappings, locations and functions by their places. Returns 0,
 * -ENOMEM, or -EINVAL with the reason in `ret_why`.
 */
static int message_check(struct message *message, char *ret_why)
{
	struct checking checking = {message->profile, ret_why};
	int err = check_counts(&checking);

	forget(&message->profile->base);
	if (!err)
		err = check_texts(&checking);
	if (!err)
		err = check_types(&checking);
	return err ? err : number_all(&checking);
}

#define MEMORY_MAX                                                                                 \
	(1UL << 30) /* of a message that was read: a small file can unpack to a large one */

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

/* Absent fields are 0, and protobuf-c makes absent texts empty. */
static int unpack(const __u8 *bytes, size_t size, struct message *message, char *ret_why)
{
	struct taking taking = {.arena = &message->arena, .left = MEMORY_MAX};
	ProtobufCAllocator allocator = {take, leave, &taking};

	message->profile = perftools__profiles__profile__unpack(&allocator, size, bytes);
	if (message->profile && !bring_texts_in(message))
		return message_check(message, ret_why);
	taking.failed |= message->profile != NULL;
	snprintf(ret_why, MESSAGE_WHY_MAX,
		 taking.failed ? "it needs too much memory"
			       : "it is not a pprof profile, or cut off");
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
		snprintf(ret_why, MESSAGE_WHY_MAX, "it is not a gzip file, or cut off");
	if (err == -EFBIG)
		snprintf(ret_why, MESSAGE_WHY_MAX, "it is larger than %lu MiB",
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

/* A table of texts of our own, with room for as many again. 0 or -ENOMEM. */
static int grow_texts(struct message *message)
{
	Profile *profile = message->profile;
	const size_t count = profile->n_string_table, room = 2 * count + 1;
	char **texts = arena_alloc(&message->arena, room * sizeof(*texts));

	if (!texts)
		return -ENOMEM;
	memcpy(texts, profile->string_table, count * sizeof(*texts));
	profile->string_table = message->texts = texts;
	message->text_room = room;
	return 0;
}

static __s64 append_text(struct message *message, const char *text)
{
	Profile *profile = message->profile;
	const size_t size = strlen(text) + 1;
	char *copy = arena_alloc(&message->arena, size);
	bool full = profile->string_table != message->texts ||
		    profile->n_string_table == message->text_room;

	if (!copy || (full && grow_texts(message)))
		return -ENOMEM;
	profile->string_table[profile->n_string_table] = memcpy(copy, text, size);
	return (__s64)profile->n_string_table++;
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
