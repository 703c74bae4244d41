// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/foreign.h"
#include "base/list.h"
#include "profile/names/code_file.h"
#include "profile/names/frame_names.h"
#include "profile/names/name_cache.h"
#include "profile/names/runtime_text.h"

#define FRAMES_AGAIN 1024 /* so many more than twice the unique ones are made unique again */

struct frame_names {
	const struct files *files;
	struct name_cache *known;
	const struct unique *named; /* see runtime_text.h */
	__u64 *frame;               /* sorted, each once */
	char **name;                /* of each */
	char **file;                /* of each that a runtime knows; else NULL */
	size_t count, kept;         /* kept: those that were unique when that was last looked at */
};

static int add(struct frame_names *names, __u64 frame)
{
	__u64 *list = list_add(&names->frame, &names->count, sizeof(*list));

	if (!list)
		return -1;
	*list = frame;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const __u64 first = *(const __u64 *)a, second = *(const __u64 *)b;

	return (first > second) - (first < second);
}

/* Sorted, each once. */
static void make_unique(struct frame_names *names)
{
	size_t kept = 0;

	if (names->count)
		qsort(names->frame, names->count, sizeof(names->frame[0]), compare);
	for (size_t i = 0; i < names->count; i++)
		if (!kept || names->frame[kept - 1] != names->frame[i])
			names->frame[kept++] = names->frame[i];
	names->count = names->kept = kept;
}

static int add_stack(const struct stack *stack, void *data)
{
	const size_t count = (size_t)stack->kernel_count + stack->user_count + stack->named_count;
	struct frame_names *names = data;
	int err = 0;

	for (size_t i = 0; !err && i < count; i++)
		err = add(names, frame_is_named(stack->frame[i]) ? stack->frame[i] & ~FRAME_ENTRY
								 : stack->frame[i]);
	/* Frames of most stacks are those of others. */
	if (names->count > 2 * names->kept + FRAMES_AGAIN)
		make_unique(names);
	return err;
}

static void name_kernel(struct frame_names *names, size_t from, __u64 since_ns)
{
	struct kernel_names *kernel = name_cache_kernel(names->known);

	kernel_names_look(kernel, names->frame + from, names->count - from, since_ns);
	for (size_t i = from; i < names->count; i++) {
		const char *name = kernel_names_get(kernel, names->frame[i], since_ns);

		names->name[i] = foreign_dup(name ? name : "[kernel]");
	}
}

/* What can be said of code whose function is not known. */
static char *place(const struct frame_names *names, __u64 frame)
{
	const int file = FRAME_FILE(frame);
	char *text;

	if (file < 0)
		return strdup("[unknown code]");
	return asprintf(&text, "%s+0x%x", files_name(names->files, file), (__u32)frame) < 0 ? NULL
											    : text;
}

/* Add what was found in a file to the cache; if the file cannot be read, that it has no names. */
static void remember(struct frame_names *names, int file, const struct code_names *found, int err)
{
	__u32 start, end;
	const char *name;

	if (err == -ENOEXEC)
		name_cache_add(names->known, file, 0, UINT32_MAX, NULL);
	for (__u32 i = 0; !err && i < found->count; i++) {
		code_names_range(found, i, &start, &end);
		if (!name_cache_find(names->known, file, found->address[i], &name))
			name_cache_add(names->known, file, start, end, code_names_get(found, i));
	}
}

/* Look into a file for those of its frames, `from` to before `to`, that are not known. */
static void learn(struct frame_names *names, int file, size_t from, size_t to)
{
	const int fd = files_fd(names->files, file);
	struct code_names *found = fd < 0 ? NULL : code_names_new();
	const char *name;

	if (!found)
		return;
	for (size_t i = from; i < to; i++)
		if (!name_cache_find(names->known, file, (__u32)names->frame[i], &name))
			found->address[found->count++] = (__u32)names->frame[i];
	if (found->count)
		remember(names, file, found, code_names_read(fd, found));
	code_names_free(found);
}

/* Frames `from` to before `to`, of one file. */
static void name_file(struct frame_names *names, size_t from, size_t to)
{
	const int file = FRAME_FILE(names->frame[from]);
	const char *name;

	if (file >= 0)
		learn(names, file, from, to);
	for (size_t i = from; i < to; i++) {
		if (file < 0 || !name_cache_find(names->known, file, (__u32)names->frame[i], &name))
			name = NULL;
		names->name[i] = name ? strdup(name) : place(names, names->frame[i]);
	}
}

/* What is known of a function of a runtime. Returns whether anything is. */
static bool find_named(const struct frame_names *names, __u64 frame, struct runtime_text *ret)
{
	const size_t number = (size_t)(frame & ~FRAME_NAMED);
	const char *text =
	    number && number < names->named->count ? names->named->text[number] : NULL;

	return text && runtime_text_parse(text, strlen(text) + 1, ret);
}

/* "FUNCTION (FILE)", without the directories of the file. */
static char *name_named(const struct frame_names *names, __u64 frame)
{
	struct runtime_text named;
	const char *slash;
	size_t length;
	char *text;

	if (!find_named(names, frame, &named))
		return strdup("[unknown code]");
	if (!named.file_length)
		return strndup(named.function, named.function_length);
	slash = memrchr(named.file, '/', named.file_length);
	length = slash ? (size_t)(named.file + named.file_length - slash - 1) : named.file_length;
	if (asprintf(&text, "%.*s (%.*s)", (int)named.function_length, named.function, (int)length,
		     slash ? slash + 1 : named.file) < 0)
		return NULL;
	return text;
}

/* Those of one file, as many as can be asked for at once. */
static size_t end_of_file(const struct frame_names *names, size_t from)
{
	size_t to = from;

	while (to < names->count && to - from < CODE_NAMES_MAX &&
	       FRAME_FILE(names->frame[to]) == FRAME_FILE(names->frame[from]))
		to++;
	return to;
}

/* The file of such a function, if it is known. */
static char *file_named(const struct frame_names *names, __u64 frame)
{
	struct runtime_text named;

	return find_named(names, frame, &named) ? strndup(named.file, named.file_length) : NULL;
}

static int find_names(struct frame_names *names, __u64 since_ns)
{
	const size_t room = names->count ? names->count : 1;
	size_t at = 0, to;

	names->name = calloc(room, sizeof(*names->name));
	names->file = calloc(room, sizeof(*names->file));
	if (!names->name || !names->file)
		return -1;
	for (; at < names->count && names->frame[at] < FRAME_NAMED; at = to) {
		to = end_of_file(names, at);
		name_file(names, at, to);
	}
	for (; at < names->count && !(names->frame[at] & FRAME_KERNEL); at++) {
		names->name[at] = name_named(names, names->frame[at]);
		names->file[at] = file_named(names, names->frame[at]);
	}
	name_kernel(names, at, since_ns);
	return 0;
}

struct frame_names *frame_names_new(const struct samples *samples, const struct profiler *profiler)
{
	struct frame_names *names = calloc(1, sizeof(*names));
	int err = names ? 0 : -1;

	if (names) {
		names->files = profiler->files;
		names->known = profiler->known;
		names->named = runtime_functions_texts(profiler->functions);
		err = add(names, FRAME_UNKNOWN);
		if (!err)
			err = samples_each(samples, add_stack, names);
		make_unique(names);
	}
	if (!err)
		err = find_names(names, samples_since_ns(samples));
	if (!err)
		return names;
	frame_names_free(names);
	return NULL;
}

void frame_names_free(struct frame_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->count; i++) {
		if (names->name)
			free(names->name[i]);
		if (names->file)
			free(names->file[i]);
	}
	free(names->name);
	free(names->file);
	free(names->frame);
	free(names);
}

/* What is in no sample is unknown code, which comes first. */
size_t frame_names_number(const struct frame_names *names, __u64 frame)
{
	const __u64 *found =
	    bsearch(&frame, names->frame, names->count, sizeof(names->frame[0]), compare);

	return found ? (size_t)(found - names->frame) : 0;
}

size_t frame_names_count(const struct frame_names *names)
{
	return names->count;
}

__u64 frame_names_frame(const struct frame_names *names, size_t number)
{
	return names->frame[number];
}

const struct files *frame_names_files(const struct frame_names *names)
{
	return names->files;
}

const char *frame_names_get(const struct frame_names *names, __u64 frame)
{
	const char *name = names->name[frame_names_number(names, frame)];

	return name ? name : "[unknown]";
}

const char *frame_names_file(const struct frame_names *names, __u64 frame)
{
	const char *file;

	if (frame & FRAME_KERNEL)
		return "kernel";
	if (frame_is_named(frame)) {
		file = names->file[frame_names_number(names, frame)];
		return file ? file : "";
	}
	return FRAME_FILE(frame) < 0 ? "" : files_name(names->files, FRAME_FILE(frame));
}

__u32 frame_names_line(const struct frame_names *names, __u64 frame)
{
	struct runtime_text named;

	return frame_is_named(frame) && find_named(names, frame, &named) ? named.line : 0;
}
