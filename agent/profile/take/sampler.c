// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/cgroup.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/time_namespace.h"
#include "engine/traces.h"
#include "load/node_map_names.h"
#include "load/node_maps.h"
#include "pins/pins.h"
#include "profile/take/sampler.h"
#include "profile/unwind/row_index.h"
#include "profile_bpf.skel.h"

#define ROWS_MAX  (4U << 20) /* of all files together: 32 MiB */
#define PAGES_MAX (1U << 19) /* of their indexes: 4 MiB, for 512 MiB of code */

struct sampler {
	struct profile_bpf *skel;
	struct ring_buffer *ring;
	__u32 rows_used, pages_used;
	__u64 editions; /* of processes' mappings that were told */
	bool has_contexts;
	int *event; /* one for each CPU; -1: it is offline */
	int cpus;
	void (*take)(const struct profile_sample *sample, void *data);
	void *data;
	size_t bytes; /* that are being read */
};

__attribute__((format(printf, 3, 4))) static int fail(char *why, int err, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, SAMPLER_WHY_MAX, format, arguments);
	va_end(arguments);
	return err;
}

/* A path has as many directories as it has slashes: the root is level 0. */
static int set_cgroup(struct profile_bpf *skel, const char *path, char *why)
{
	__u32 level = 0;
	__u64 id = cgroup_id(path);

	if (!id)
		return fail(why, -ENOENT, "there is no cgroup %s", path);
	for (const char *at = path; *at; at++)
		level += *at != '/' && (at == path || at[-1] == '/');
	skel->rodata->wanted_cgroup = id;
	skel->rodata->wanted_cgroup_level = level;
	return 0;
}

/* Does the map have the layout that is published? */
static bool is_published_layout(int fd)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);

	return !bpf_obj_get_info_by_fd(fd, &info, &size) && info.type == BPF_MAP_TYPE_LRU_HASH &&
	       info.key_size == sizeof(__u64) && info.value_size == sizeof(struct traces_ctx) &&
	       info.max_entries == TRACES_CTX_MAX && !info.map_flags;
}

/* Look into the pinned map of contexts, whoever made it; without it into an empty one. */
static int use_contexts(struct sampler *sampler, char *why)
{
	_cleanup_close_ int fd = bpf_obj_get(NODE_TRACES_PATH);

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return fail(why, fd, "%s: %s", NODE_TRACES_PATH, strerror(-fd));
	if (!is_published_layout(fd))
		return fail(why, -EINVAL, "%s has another layout than the published one",
			    NODE_TRACES_PATH);
	sampler->has_contexts = true;
	return bpf_map__reuse_fd(sampler->skel->maps.traces_ctx_v1, fd);
}

/* Take a map of the daemon's; where there is none an empty one, as small as can be. */
static int use_map(struct sampler *sampler, struct bpf_map *map, char *why)
{
	char path[PINS_PATH_MAX];
	_cleanup_close_ int fd =
	    bpf_obj_get(pins_map_path(path, node_maps_layer_dir(), bpf_map__name(map)));
	int err = 0;

	if (fd >= 0 && map == sampler->skel->maps.processes)
		sampler->skel->rodata->has_engine = 1;
	if (fd >= 0)
		err = bpf_map__reuse_fd(map, fd);
	else if (bpf_map__max_entries(map))
		err = bpf_map__set_max_entries(map, 1);
	return err ? fail(why, err, "%s: %s", path, strerror(-err)) : 0;
}

/* Use the daemon's maps of programs and requests, if it runs, and is of this build. */
static int use_node(struct sampler *sampler, char *why)
{
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map(map, sampler->skel->obj)
	{
		if (!err && map != sampler->skel->maps.traces_ctx_v1 &&
		    node_maps_has(bpf_map__name(map)))
			err = use_map(sampler, map, why);
	}
	return err;
}

/* The programs in the scheduler are loaded only if they are wanted. */
static void set_off_cpu(struct profile_bpf *skel, bool wanted)
{
	bpf_program__set_autoload(skel->progs.profile_switch, wanted);
	bpf_program__set_autoload(skel->progs.profile_wakeup, wanted);
	bpf_map__set_autocreate(skel->maps.profile_waits, wanted);
}

/* Wake-ups first, so that for each wait whose begin is seen the wake-up is seen, too. */
static int attach_off_cpu(struct profile_bpf *skel)
{
	skel->links.profile_wakeup = bpf_program__attach(skel->progs.profile_wakeup);
	if (!skel->links.profile_wakeup)
		return -errno;
	skel->links.profile_switch = bpf_program__attach(skel->progs.profile_switch);
	return skel->links.profile_switch ? 0 : -errno;
}

static void detach_off_cpu(struct profile_bpf *skel)
{
	bpf_link__destroy(skel->links.profile_switch);
	bpf_link__destroy(skel->links.profile_wakeup);
	skel->links.profile_switch = skel->links.profile_wakeup = NULL;
}

static int prepare(struct sampler *sampler, const struct sampler_options *options, char *why)
{
	struct profile_bpf *skel = sampler->skel;
	int err;

	skel->rodata->wanted_tgid = options->tgid;
	skel->rodata->wants_requests = options->requests_only;
	set_off_cpu(skel, options->off_cpu);
	skel->rodata->wanted_sources = options->sources;
	err = options->cgroup ? set_cgroup(skel, options->cgroup, why) : 0;
	if (!err)
		err = use_contexts(sampler, why);
	if (err)
		return err;
	err = use_node(sampler, why);
	if (err)
		return err;
	bpf_map__set_max_entries(skel->maps.profile_rows, ROWS_MAX);
	bpf_map__set_map_flags(skel->maps.profile_rows, BPF_F_MMAPABLE);
	bpf_map__set_max_entries(skel->maps.profile_pages, PAGES_MAX);
	bpf_map__set_map_flags(skel->maps.profile_pages, BPF_F_MMAPABLE);
	if (options->ring_bytes)
		bpf_map__set_max_entries(skel->maps.profile_samples, options->ring_bytes);
	err = profile_bpf__load(skel);
	return err ? fail(why, err, "the sampler cannot be loaded: %s", strerror(-err)) : 0;
}

static int on_sample(void *data, void *bytes, size_t size)
{
	const struct profile_sample *sample = bytes;
	struct sampler *sampler = data;

	sampler->bytes += size;
	sampler->take(sample, sampler->data);
	return 0;
}

/* The clock of one CPU. 0, also if the CPU is offline; or -errno. */
static int start_clock(struct sampler *sampler, int cpu, unsigned int hz)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .freq = 1,
				       .sample_freq = hz,
				       .disabled = 1};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno == ENODEV ? 0 : -errno;
	sampler->event[cpu] = fd;
	/* Detached with the event, unlike a link, and available on every kernel. */
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF,
		  bpf_program__fd(sampler->skel->progs.profile_sample)) ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		return -errno;
	return 0;
}

static __u64 boot_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (__u64)now.tv_sec * NS_PER_SECOND + (__u64)now.tv_nsec;
}

static int start_clocks(struct sampler *sampler, unsigned int hz)
{
	int cpus = libbpf_num_possible_cpus(), err = 0;

	if (cpus < 0)
		return cpus;
	sampler->event = calloc((size_t)cpus, sizeof(*sampler->event));
	if (!sampler->event)
		return -ENOMEM;
	sampler->cpus = cpus;
	for (int cpu = 0; cpu < cpus; cpu++)
		sampler->event[cpu] = -1;
	for (int cpu = 0; cpu < cpus && !err; cpu++)
		err = start_clock(sampler, cpu, hz);
	return err;
}

static int start(struct sampler *sampler, const struct sampler_options *options, char *why)
{
	int err = prepare(sampler, options, why);

	if (err)
		return err;
	sampler->ring = ring_buffer__new(bpf_map__fd(sampler->skel->maps.profile_samples),
					 on_sample, sampler, NULL);
	if (!sampler->ring)
		return fail(why, -errno, "the ring of samples: %s", strerror(errno));
	sampler->skel->bss->until_ns =
	    options->duration_ns ? boot_now_ns() + options->duration_ns : ~0ULL;
	err = options->off_cpu ? attach_off_cpu(sampler->skel) : 0;
	if (err)
		return fail(why, err, "sched_switch and sched_wakeup: %s", strerror(-err));
	err = start_clocks(sampler, options->hz);
	return err ? fail(why, err, "perf_event_open: %s", strerror(-err)) : 0;
}

int sampler_open(const struct sampler_options *options, struct sampler **ret_sampler, char *ret_why)
{
	struct sampler *sampler;
	int err = -ENOMEM;

	/* Times of samples and of requests are the kernel's. */
	if (time_namespace_differs())
		return fail(ret_why, -EXDEV, TIME_NAMESPACE_WHY);
	sampler = calloc(1, sizeof(*sampler));
	if (sampler)
		sampler->skel = profile_bpf__open();
	if (!sampler || !sampler->skel)
		fail(ret_why, err, "out of memory");
	else
		err = start(sampler, options, ret_why);
	if (err)
		sampler_close(sampler);
	else
		*ret_sampler = sampler;
	return err;
}

__u64 sampler_until_ns(const struct sampler *sampler)
{
	return sampler->skel->bss->until_ns;
}

void sampler_stop(struct sampler *sampler)
{
	const __u64 now_ns = boot_now_ns();

	if (sampler->skel && sampler->skel->bss && now_ns < sampler->skel->bss->until_ns)
		sampler->skel->bss->until_ns = now_ns;
	if (sampler->skel)
		detach_off_cpu(sampler->skel);
	for (int cpu = 0; cpu < sampler->cpus; cpu++)
		cleanup_close(&sampler->event[cpu]);
}

void sampler_close(struct sampler *sampler)
{
	if (!sampler)
		return;
	sampler_stop(sampler);
	free(sampler->event);
	ring_buffer__free(sampler->ring);
	profile_bpf__destroy(sampler->skel);
	free(sampler);
}

bool sampler_has_contexts(const struct sampler *sampler)
{
	return sampler->has_contexts;
}

size_t sampler_read(struct sampler *sampler,
		    void (*take)(const struct profile_sample *sample, void *data), void *data)
{
	sampler->take = take;
	sampler->data = data;
	sampler->bytes = 0;
	ring_buffer__consume(sampler->ring);
	return sampler->bytes;
}

__u64 sampler_lost(const struct sampler *sampler)
{
	return sampler->skel->bss->samples_lost;
}

__u64 sampler_waits_left_out(const struct sampler *sampler)
{
	return sampler->skel->bss->waits_left_out;
}

/*
 * Bytes `from` to before from + size of an array. Only what is written is mapped, and only
 * meanwhile: of a map all pages that are mapped count.
 */
struct part {
	char *memory;
	size_t before, size; /* before: what is mapped in front of it */
};

static int part_map(const struct bpf_map *map, size_t from, size_t size, struct part *ret)
{
	*ret = (struct part){.before = from % (size_t)sysconf(_SC_PAGESIZE), .size = size};
	ret->memory = mmap(NULL, ret->before + size, PROT_READ | PROT_WRITE, MAP_SHARED,
			   bpf_map__fd(map), (off_t)(from - ret->before));
	return ret->memory == MAP_FAILED ? -errno : 0;
}

static void part_unmap(const struct part *part)
{
	munmap(part->memory, part->before + part->size);
}

/* Without room for it the table is searched as a whole. */
static void add_index(struct sampler *sampler, const struct profile_row *row,
		      struct profile_table *table)
{
	const __u32 pages = row_index_pages(row, table->count), used = sampler->pages_used;
	struct part part;

	if (!pages || pages > PAGES_MAX - used ||
	    part_map(sampler->skel->maps.profile_pages, used * sizeof(struct profile_page),
		     pages * sizeof(struct profile_page), &part))
		return;
	row_index_fill(row, table->count, table->first, pages,
		       (struct profile_page *)(void *)(part.memory + part.before));
	part_unmap(&part);
	table->page = used;
	table->pages = pages;
	sampler->pages_used += pages;
}

int sampler_add_table(struct sampler *sampler, const struct profile_row *row, __u32 count,
		      struct profile_table *ret_table)
{
	const size_t from = sampler->rows_used * sizeof(*row), size = count * sizeof(*row);
	struct part part;
	int err;

	if (count > ROWS_MAX - sampler->rows_used)
		return -ENOSPC;
	err = part_map(sampler->skel->maps.profile_rows, from, size, &part);
	if (err)
		return err;
	memcpy(part.memory + part.before, row, size);
	part_unmap(&part);
	*ret_table = (struct profile_table){.first = sampler->rows_used, .count = count};
	sampler->rows_used += count;
	add_index(sampler, row, ret_table);
	return 0;
}

unsigned int sampler_tables_used(const struct sampler *sampler)
{
	const unsigned int rows = (unsigned int)(sampler->rows_used * 100ULL / ROWS_MAX);
	const unsigned int pages = (unsigned int)(sampler->pages_used * 100ULL / PAGES_MAX);

	return rows > pages ? rows : pages;
}

static int set(const struct bpf_map *map, __u32 tgid, const void *value)
{
	const int fd = bpf_map__fd(map);

	return value ? bpf_map_update_elem(fd, &tgid, value, BPF_ANY)
		     : bpf_map_delete_elem(fd, &tgid);
}

int sampler_set_process(struct sampler *sampler, __u32 tgid, struct profile_process *process)
{
	if (process)
		process->edition = ++sampler->editions;
	return set(sampler->skel->maps.profile_processes, tgid, process);
}

int sampler_set_compiled(struct sampler *sampler, __u32 tgid,
			 const struct runtime_compiled *compiled)
{
	return set(sampler->skel->maps.runtime_compiled, tgid, compiled);
}

int sampler_set_threads(struct sampler *sampler, __u32 tgid,
			const struct profile_thread_data *threads)
{
	return set(sampler->skel->maps.profile_threads, tgid, threads);
}
