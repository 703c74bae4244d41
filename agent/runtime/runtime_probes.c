// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "base/jobs.h"
#include "runtime/runtime_probes.h"
#include "runtime/uprobe_programs.h"

/* `object` may be NULL: there is none. */
static struct runtime_probe open_probe(struct uprobe_pins *pins, const char *name,
				       const void *(*object)(size_t *ret_size))
{
	struct runtime_probe probe = {};
	const void *bytes;
	size_t size;

	if (!object)
		return probe;
	bytes = object(&size);
	probe.err = uprobe_programs_open(pins, name, bytes, size, &probe.programs);
	return probe;
}

void runtime_probes_open(struct uprobe_pins *pins, runtimes_lack lack,
			 struct runtime_probes *ret_probes)
{
	*ret_probes = (struct runtime_probes){.lack = lack};
	for (size_t i = 0; i < RUNTIME_FOLDERS_COUNT; i++) {
		const struct runtime_driver *driver = runtime_drivers[i];

		ret_probes->of[i] = open_probe(pins, driver->object_name, driver->object);
		ret_probes->asking[i] =
		    open_probe(pins, driver->asking_name, driver->asking_object);
	}
}

void runtime_probes_close(struct runtime_probes *probes)
{
	for (size_t i = 0; i < RUNTIME_FOLDERS_COUNT; i++) {
		uprobe_programs_close(probes->of[i].programs);
		uprobe_programs_close(probes->asking[i].programs);
	}
	known_files_forget(&probes->known, NULL, NULL);
	*probes = (struct runtime_probes){};
}

static bool is_of_part(const struct uprobe_kind *kind, enum runtime_part part)
{
	const __u32 others = part == RUNTIME_PART_ALL ? RUNTIME_SHOWN : ~0U;

	return kind->program && !kind->asks && !(kind->flags & others);
}

static size_t object_size(size_t driver)
{
	size_t size = 0;

	if (runtime_drivers[driver]->object)
		runtime_drivers[driver]->object(&size);
	return size;
}

/*
 * The driver with the largest object first: it takes longest. The others, from the smallest on, are
 * soon done beside it.
 */
static void order_drivers(size_t ret_order[RUNTIME_FOLDERS_COUNT])
{
	const size_t last = RUNTIME_FOLDERS_COUNT - 1;
	size_t largest;

	for (size_t i = 0; i <= last; i++) {
		size_t at = i;

		for (; at && object_size(ret_order[at - 1]) > object_size(i); at--)
			ret_order[at] = ret_order[at - 1];
		ret_order[at] = i;
	}
	largest = ret_order[last];
	memmove(&ret_order[1], &ret_order[0], last * sizeof(ret_order[0]));
	ret_order[0] = largest;
}

/* What of one runtime is loaded, for a job. */
struct preloading {
	enum runtime_part part;
	const struct runtime_probe *probe;
	const struct runtime_driver *driver;
	const atomic_bool *stop;
};

/* 0, -ECANCELED, or -errno: the others are not loaded, either. */
static int preload(void *data)
{
	const struct preloading *own = data;
	const struct runtime_driver *driver = own->driver;
	int err = own->probe->err;

	for (size_t i = 0; !err && own->probe->programs && i < driver->probe_count; i++) {
		if (atomic_load(own->stop))
			err = -ECANCELED;
		else if (is_of_part(&driver->probes[i], own->part))
			err = uprobe_programs_need(own->probe->programs, driver->probes[i].program);
	}
	return err;
}

int runtime_probes_preload(struct runtime_probes *probes, enum runtime_part part,
			   const atomic_bool *stop)
{
	struct preloading drivers[RUNTIME_FOLDERS_COUNT];
	struct job jobs[RUNTIME_FOLDERS_COUNT];
	size_t order[RUNTIME_FOLDERS_COUNT];
	int failed = 0;

	order_drivers(order);
	for (size_t i = 0; i < RUNTIME_FOLDERS_COUNT; i++) {
		drivers[i] = (struct preloading){part, &probes->of[order[i]],
						 runtime_drivers[order[i]], stop};
		jobs[i] = (struct job){.run = preload, .data = &drivers[i]};
	}
	jobs_run(jobs, RUNTIME_FOLDERS_COUNT);
	for (size_t i = 0; i < RUNTIME_FOLDERS_COUNT; i++)
		failed = jobs[i].err ? jobs[i].err : failed;
	return failed;
}

/* The program at a place, if what was found needs it; else NULL. */
static const char *needed_at(const struct runtime_driver *driver, const struct classified *found,
			     __u32 place, bool asks)
{
	const __u32 probe = found->sites.site[place].probe;
	const struct uprobe_kind *kind =
	    probe < driver->probe_count ? &driver->probes[probe] : NULL;

	return kind && kind->asks == asks && (found->runtime.flags & kind->flags) == kind->flags
		   ? kind->program
		   : NULL;
}

/* Do something with each program of an object that is needed for what was found. 0 or -errno. */
static int each_needed(const struct runtime_probe *probe, const struct runtime_driver *driver,
		       const struct classified *found, bool asks,
		       int (*act)(struct uprobe_programs *programs, const char *name))
{
	int err = 0;

	for (__u32 i = 0; probe->programs && !err && i < found->sites.count; i++) {
		const char *name = needed_at(driver, found, i, asks);

		if (name)
			err = act(probe->programs, name);
	}
	return err;
}

/* -ENOENT: it has to be loaded. */
static int is_there(struct uprobe_programs *programs, const char *name)
{
	return uprobe_programs_is_settled(programs, name) ? 0 : -ENOENT;
}

bool runtime_probes_are_loaded(const struct runtime_probes *probes, const struct classified *found)
{
	const struct runtime_driver *driver = runtime_driver_of(found);

	return !driver ||
	       (!each_needed(&probes->of[found->driver - 1], driver, found, false, is_there) &&
		!each_needed(&probes->asking[found->driver - 1], driver, found, true, is_there));
}

void runtime_probes_load(const struct runtime_probes *probes, const struct classified *found)
{
	const struct runtime_driver *driver = runtime_driver_of(found);

	if (!driver)
		return;
	each_needed(&probes->of[found->driver - 1], driver, found, false, uprobe_programs_need);
	each_needed(&probes->asking[found->driver - 1], driver, found, true, uprobe_programs_need);
}

static int attach_to_sites(const struct runtime_probe *probe, const struct runtime_driver *driver,
			   const struct subject *subject, const struct classified *found, bool asks)
{
	return probe->err
		   ? probe->err
		   : uprobe_programs_attach(probe->programs, subject, &found->sites, driver->probes,
					    driver->probe_count, found->runtime.flags, asks);
}

static void tell_lack(runtimes_lack lack, const char *runtime, struct runtime_probe *probe)
{
	int err = probe->programs ? uprobe_programs_lack(probe->programs) : probe->err;

	if (err && !probe->said)
		lack(runtime, err);
	probe->said |= err != 0;
}

/* Without those that ask all is followed as it is with them. */
static void attach_asking(struct runtime_probes *probes, const struct runtime_driver *driver,
			  const struct subject *subject, const struct classified *found)
{
	struct runtime_probe *probe = &probes->asking[found->driver - 1];

	if (!driver->asking_object)
		return;
	attach_to_sites(probe, driver, subject, found, true);
	tell_lack(probes->lack, driver->name, probe);
}

static int attach(struct runtime_probes *probes, const struct runtime_driver *driver,
		  const struct subject *subject, struct classified *found)
{
	struct runtime_probe *probe = &probes->of[found->driver - 1];
	int err;

	if (!driver->object || !found->sites.count)
		return 0;
	err = attach_to_sites(probe, driver, subject, found, false);
	if (!err)
		attach_asking(probes, driver, subject, found);
	if (driver->attached)
		driver->attached(found, err);
	tell_lack(probes->lack, driver->name, probe);
	return err;
}

int runtime_probes_attach(struct runtime_probes *probes, const struct subject *subject,
			  struct classified *found)
{
	const struct runtime_driver *driver = runtime_driver_of(found);
	bool by_file = driver && driver->relocate && found->sites.count;
	int err;

	if (!driver)
		return 0;
	if (by_file)
		known_files_add(&probes->known, &subject->file[SUBJECT_PROGRAM].stat, found);
	err = attach(probes, driver, subject, found);
	if (by_file)
		driver->relocate(&found->runtime, found->bias);
	return err;
}

const struct classified *runtime_probes_known(const struct runtime_probes *probes,
					      const struct stat *file)
{
	return known_files_find(&probes->known, file);
}

static void hide(const struct runtime_probe *probe, const struct runtime_driver *driver,
		 const struct stat *file, __u32 flags, bool asks)
{
	for (size_t i = 0; probe->programs && i < driver->probe_count; i++)
		if (driver->probes[i].asks == asks && driver->probes[i].flags & flags)
			uprobe_programs_detach(probe->programs, file, driver->probes[i].program);
}

void runtime_probes_hide(struct runtime_probes *probes, const struct stat *file, __u32 flags)
{
	for (size_t i = 0; i < RUNTIME_FOLDERS_COUNT; i++) {
		hide(&probes->of[i], runtime_drivers[i], file, flags, false);
		hide(&probes->asking[i], runtime_drivers[i], file, flags, true);
	}
}

bool runtime_probes_need(const struct classified *found, __u32 flags)
{
	const struct runtime_driver *driver = runtime_driver_of(found);

	for (__u32 i = 0; driver && i < found->sites.count; i++)
		if (found->sites.site[i].probe < driver->probe_count &&
		    driver->probes[found->sites.site[i].probe].flags & flags)
			return true;
	return false;
}

void runtime_probes_forget(struct runtime_probes *probes,
			   bool (*is_used)(const struct stat *file, void *data), void *data)
{
	known_files_forget(&probes->known, is_used, data);
}
