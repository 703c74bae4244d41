// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/resident.h"
#include "runtime/uprobe_family.h"
#include "runtime/uprobe_programs.h"

/* A family that was needed. */
struct loaded {
	struct loaded *next;
	bool is_there;    /* false: a thread is at it */
	const char *name; /* of one of its programs */
	struct uprobe_family family;
};

struct uprobe_programs {
	struct uprobe_pins *pins;
	struct uprobe_object object;
	pthread_mutex_t lock; /* of what follows: two threads load */
	pthread_cond_t news;  /* a family has been loaded, or not */
	struct loaded *first;
	int err; /* a family could not be loaded: none is tried again */
};

int uprobe_programs_open(struct uprobe_pins *pins, const char *name, const void *object,
			 size_t size, struct uprobe_programs **ret_programs)
{
	struct uprobe_programs *programs = calloc(1, sizeof(*programs));

	if (!programs)
		return -ENOMEM;
	*programs = (struct uprobe_programs){.pins = pins, .object = {name, object, size}};
	pthread_mutex_init(&programs->lock, NULL);
	pthread_cond_init(&programs->news, NULL);
	*ret_programs = programs;
	return 0;
}

static void unload(struct loaded *loaded)
{
	uprobe_family_close(&loaded->family);
	free(loaded);
}

void uprobe_programs_close(struct uprobe_programs *programs)
{
	struct loaded *loaded;

	if (!programs)
		return;
	while ((loaded = programs->first)) {
		programs->first = loaded->next;
		unload(loaded);
	}
	pthread_cond_destroy(&programs->news);
	pthread_mutex_destroy(&programs->lock);
	free(programs);
}

/* The place in the list that leads to the family of this program, or the end. */
static struct loaded **find(struct uprobe_programs *programs, const char *name)
{
	struct loaded **at = &programs->first;

	while (*at && !uprobe_family_is((*at)->name, name))
		at = &(*at)->next;
	return at;
}

/*
 * Called with the lock, which is released meanwhile: other threads see that the family is being
 * loaded. 0 or -errno.
 */
static int load_family(struct uprobe_programs *programs, const char *name)
{
	struct loaded *loaded = calloc(1, sizeof(*loaded));
	struct uprobe_family family;

	if (!loaded)
		return programs->err = -ENOMEM;
	*loaded = (struct loaded){.next = programs->first, .name = name};
	programs->first = loaded;
	pthread_mutex_unlock(&programs->lock);
	int err = uprobe_family_load(programs->pins, &programs->object, name, &family);

	resident_shrink(); /* free what only loading needed */
	pthread_mutex_lock(&programs->lock);
	loaded->family = family;
	loaded->is_there = true;
	if (err) {
		programs->err = err;
		*find(programs, name) = loaded->next;
		free(loaded);
	}
	pthread_cond_broadcast(&programs->news);
	return err;
}

int uprobe_programs_need(struct uprobe_programs *programs, const char *name)
{
	struct loaded *loaded;
	int err;

	pthread_mutex_lock(&programs->lock);
	while ((loaded = *find(programs, name)) && !loaded->is_there)
		pthread_cond_wait(&programs->news, &programs->lock);
	err = loaded ? 0 : programs->err;
	if (!loaded && !err)
		err = load_family(programs, name);
	pthread_mutex_unlock(&programs->lock);
	return err;
}

bool uprobe_programs_is_settled(struct uprobe_programs *programs, const char *name)
{
	const struct loaded *loaded;
	bool is_settled;

	pthread_mutex_lock(&programs->lock);
	loaded = *find(programs, name);
	is_settled = loaded ? loaded->is_there : programs->err != 0;
	pthread_mutex_unlock(&programs->lock);
	return is_settled;
}

/* -1: it is not loaded. */
static int program_of(struct uprobe_programs *programs, const char *name)
{
	const struct loaded *loaded;
	int fd;

	pthread_mutex_lock(&programs->lock);
	loaded = *find(programs, name);
	fd = loaded ? uprobe_family_find(&loaded->family, name) : -1;
	pthread_mutex_unlock(&programs->lock);
	return fd;
}

static int attach(struct uprobe_programs *programs, const struct subject *subject,
		  const struct probe_site *site, const struct uprobe_kind *kind)
{
	const struct uprobe_site place = {.file = &subject->file[site->file],
					  .offset = site->offset,
					  .at_return = kind->at_return};
	int err = uprobe_programs_need(programs, kind->program);
	const int probe = err ? -1 : program_of(programs, kind->program);

	if (err)
		return err;
	if (probe < 0)
		return -ENOENT;
	return uprobe_pins_attach(programs->pins, &subject->file[SUBJECT_PROGRAM].stat, probe,
				  &place);
}

int uprobe_programs_attach(struct uprobe_programs *programs, const struct subject *subject,
			   const struct probe_sites *sites, const struct uprobe_kind *kinds,
			   size_t count, __u32 flags, bool asks)
{
	int err = 0;

	for (__u32 i = 0; !err && i < sites->count; i++) {
		const struct probe_site *site = &sites->site[i];
		const struct uprobe_kind *kind = site->probe < count ? &kinds[site->probe] : NULL;

		if (!kind)
			err = -EBADMSG;
		else if (kind->asks == asks && (flags & kind->flags) == kind->flags)
			err = attach(programs, subject, site, kind);
	}
	return err;
}

void uprobe_programs_detach(struct uprobe_programs *programs, const struct stat *program,
			    const char *name)
{
	const int probe = program_of(programs, name);

	if (probe >= 0)
		uprobe_pins_detach(programs->pins, program, probe);
}

int uprobe_programs_lack(struct uprobe_programs *programs)
{
	int err;

	pthread_mutex_lock(&programs->lock);
	err = programs->err;
	pthread_mutex_unlock(&programs->lock);
	return err;
}
