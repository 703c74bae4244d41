// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "inspect/elf_image.h"
#include "inspect/library.h"
#include "runtime/classify.h"

/* The program itself has a place of its own. */
#define WANTED_MAX (SUBJECT_FILES_MAX - 1)

/* Returns the new count; `all` has room for WANTED_MAX. */
static size_t add_wanted(struct subject_wanted *all, size_t count,
			 const struct runtime_driver *driver)
{
	for (size_t i = 0; i < driver->wanted_count && count < WANTED_MAX; i++)
		all[count++] = driver->wanted[i];
	return count;
}

int classify_open(__u32 tgid, struct subject *ret_subject)
{
	struct subject_wanted all[WANTED_MAX];
	size_t count = 0;

	for (size_t i = 0; i < RUNTIME_FOLDERS_COUNT; i++)
		count = add_wanted(all, count, runtime_drivers[i]);
	return subject_open(tgid, all, count, ret_subject);
}

/* Where what was found holds for each process of the file: where is this one's? 0 or -ENOENT. */
static int find_bias(const struct subject *subject, struct classified *found)
{
	const struct runtime_driver *driver = runtime_driver_of(found);

	if (!driver || !driver->relocate || !found->entry)
		return 0;
	return library_program_bias(subject, found->entry, &found->bias);
}

/* A process that cannot be read may run anything. */
static int not_readable(struct classified *found)
{
	found->runtime.kind = RUNTIME_OPAQUE;
	found->why = WHY_FORMAT;
	return 0;
}

/* Ask one driver after the other, until one says that it is its own. */
static int ask_drivers(const struct subject *subject, struct elf_image *image,
		       struct classified *found)
{
	int err = -ENOENT;

	for (__u32 i = 0; err == -ENOENT && i < RUNTIME_FOLDERS_COUNT; i++) {
		*found = (struct classified){.runtime.kind = RUNTIME_THREADS, .driver = i + 1};
		err = runtime_drivers[i]->detect(subject, image, found);
	}
	if (err == -ENOENT)
		*found = (struct classified){.runtime.kind = RUNTIME_THREADS};
	return err == -ENOENT || err == -ENOTSUP ? 0 : err;
}

static int look_into(const struct subject *subject, struct classified *found)
{
	struct elf_image *image;
	int err = elf_image_open(subject->file[SUBJECT_PROGRAM].fd, &image);

	if (err)
		return err == -ENOEXEC ? not_readable(found) : err;
	err = ask_drivers(subject, image, found);
	elf_image_close(image);
	return err;
}

/* The runtime is known, but not its layout: then nothing is known of its calls. */
static void not_known(struct classified *found, enum why why)
{
	*found = (struct classified){
	    .runtime = {.kind = RUNTIME_OPAQUE}, .driver = found->driver, .why = why};
}

int classify(const struct subject *subject, classify_known known, void *data,
	     struct classified *ret_classified)
{
	const struct classified *before = known(&subject->file[SUBJECT_PROGRAM].stat, data);
	int err = 0;

	*ret_classified = before ? *before : (struct classified){};
	if (!before)
		err = look_into(subject, ret_classified);
	if (err == -ESTALE)
		not_known(ret_classified, WHY_REPLACED);
	else if (err)
		return err;
	/* The process may be ending, which says nothing about its file, which others run, too. */
	else if (find_bias(subject, ret_classified))
		not_known(ret_classified, WHY_DAMAGED);
	return 0;
}

static bool is_right(const struct subject *subject, const struct probe_sites *sites)
{
	if (sites->count > PROBE_SITES_MAX)
		return false;
	for (__u32 i = 0; i < sites->count; i++) {
		const struct probe_site *site = &sites->site[i];

		if (site->file >= subject->file_count || subject->file[site->file].fd < 0 ||
		    !subject_file_runs(&subject->file[site->file], site->offset))
			return false;
	}
	return true;
}

int classify_check(const struct subject *subject, const struct classified *classified)
{
	__u32 kind = classified->runtime.kind;

	if (kind < RUNTIME_THREADS || kind >= RUNTIMES ||
	    classified->driver > RUNTIME_FOLDERS_COUNT || classified->why >= WHYS)
		return -EBADMSG;
	return is_right(subject, &classified->sites) ? 0 : -EBADMSG;
}
