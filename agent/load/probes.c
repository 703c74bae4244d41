// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/cgroup.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/jobs.h"
#include "engine/node.h"
#include "load/node_maps.h"
#include "pins/pins.h"
#include "load/probes.h"
#include "load/rules.h"
#include "probes.skel.h"

#define OLDER    "probe_older"
#define LISTENER "probe_listener"

/* Tells when NODE_UNIX is needed. Its type of attachment is BPF_CGROUP_UNIX_CONNECT, since 6.7. */
#define UNIX_WATCH      "probe_unix_connect"
#define UNIX_WATCH_TYPE ((enum bpf_attach_type)49)

/* Programs by event, the best hook of each first; those first that take long to load. */
static const struct candidate {
	const char *event;
	const char *program;
	bool required; /* without this event the others would draw wrong conclusions */
	__u32 flag;    /* enum node_flags: not needed on nodes that do not have it */
} candidates[] = {
    {"send", "probe_send_tp", true, 0},
    {"send", "probe_send_fentry", true, 0},
    {"recv", "probe_recv", true, 0},
    {"connect", "probe_state", true, 0},
    /*
     * Hooks of receiving come first: otherwise what is recorded for one read could be taken for the
     * next one.
     */
    {"unix-recv", "probe_unix_recv", false, NODE_UNIX},
    {"unix-recv", "probe_unix_recv_fexit", false, NODE_UNIX},
    {"unix-send", "probe_unix_send", false, NODE_UNIX},
    {"unix-send", "probe_unix_send_fentry", false, NODE_UNIX},
    {"fork", "probe_fork", false, 0},
    {"exit", "probe_exit", true, 0},
    {"wake", "probe_wake", false, 0},
    {"exec", "probe_exec", true, 0},
    {"older", OLDER, false, 0},
    {"listener", LISTENER, false, 0},
};
#define CANDIDATES (sizeof(candidates) / sizeof(candidates[0]))

static void cleanup_probes(struct probes **probes)
{
	probes__destroy(*probes);
}

#define _cleanup_probes_ __attribute__((cleanup(cleanup_probes)))

/* Open the object over the node's maps, with one of its programs. */
static int open_with(const char *name, struct probes **ret_probes)
{
	_cleanup_probes_ struct probes *probes = probes__open();
	struct bpf_program *program;
	int err;

	if (!probes)
		return -errno;
	bpf_object__for_each_program(program, probes->obj)
	    bpf_program__set_autoload(program, !strcmp(bpf_program__name(program), name));
	err = node_maps_share(probes->obj, NULL, 0);
	if (!err)
		err = rules_tell(probes->obj);
	if (err)
		return err;
	*ret_probes = probes;
	probes = NULL;
	return 0;
}

int probes_make_maps(const struct sizes *sizes, char *ret_unpublished, size_t size)
{
	_cleanup_probes_ struct probes *probes = probes__open();
	struct bpf_program *program;
	int err;

	if (!probes)
		return -errno;
	bpf_object__for_each_program(program, probes->obj)
	    bpf_program__set_autoload(program, false);
	err = sizes_set(probes->obj, sizes);
	if (!err)
		err = node_maps_share(probes->obj, ret_unpublished, size);
	return err ? err : probes__load(probes);
}

bool probes_maps_fit(char *ret_why, size_t size)
{
	_cleanup_probes_ struct probes *probes = probes__open();

	return probes && node_maps_fit(probes->obj, ret_why, size);
}

static const char *pin_path(char *buffer, const char *links_dir, __u32 generation,
			    const char *program)
{
	char name[PINS_PATH_MAX];

	snprintf(name, sizeof(name), "%u-%s", generation, program);
	return pins_join(buffer, links_dir, name);
}

/* Where the program of a link is kept that is made when it is needed. */
static const char *ready_path(char *buffer, const char *links_dir, __u32 generation,
			      const char *program)
{
	char name[PINS_PATH_MAX / 2];

	snprintf(name, sizeof(name), "%s-ready", program);
	return pin_path(buffer, links_dir, generation, name);
}

/* The pin keeps the link; libbpf would switch some kinds off when it lets go. */
static int keep(struct bpf_link *link, const char *path)
{
	int err = bpf_link__pin(link, path);

	if (!err) {
		int fd = bpf_link__fd(link);

		bpf_link__disconnect(link);
		close(fd);
	}
	bpf_link__destroy(link);
	return err;
}

static bool is_pinned(const char *links_dir, __u32 generation, const char *program)
{
	char path[PINS_PATH_MAX];

	return !access(pin_path(path, links_dir, generation, program), F_OK);
}

static bool is_ready(const char *links_dir, __u32 generation, const char *program)
{
	char path[PINS_PATH_MAX];

	return !access(ready_path(path, links_dir, generation, program), F_OK);
}

/* Have the root of all cgroups run the program that watches who connects to unix sockets. */
static int attach_watch(const char *links_dir, __u32 generation)
{
	_cleanup_close_ int cgroup = cgroup_open_root(), link = -1;
	_cleanup_probes_ struct probes *probes = NULL;
	struct bpf_program *program;
	char path[PINS_PATH_MAX];
	int err = cgroup < 0 ? cgroup : open_with(UNIX_WATCH, &probes);

	if (err)
		return err;
	probes->rodata->probe_generation = generation;
	program = bpf_object__find_program_by_name(probes->obj, UNIX_WATCH);
	/* By the name of its section only a newer libbpf would know. */
	bpf_program__set_type(program, BPF_PROG_TYPE_CGROUP_SOCK_ADDR);
	bpf_program__set_expected_attach_type(program, UNIX_WATCH_TYPE);
	err = probes__load(probes);
	if (err)
		return err;
	link = bpf_link_create(bpf_program__fd(program), cgroup, UNIX_WATCH_TYPE, NULL);
	return link < 0 ? link
			: bpf_obj_pin(link, pin_path(path, links_dir, generation, UNIX_WATCH));
}

/* Load a candidate for this generation. 0 or -errno. */
static int load_one(const struct candidate *candidate, __u32 generation, struct probes **ret_probes,
		    struct bpf_program **ret_program)
{
	_cleanup_probes_ struct probes *probes = NULL;
	int err = open_with(candidate->program, &probes);

	if (err || !probes)
		return err ? err : -ENOMEM;
	probes->rodata->probe_generation = generation;
	*ret_program = bpf_object__find_program_by_name(probes->obj, candidate->program);
	err = probes__load(probes);
	if (err)
		return err;
	*ret_probes = probes;
	probes = NULL;
	return 0;
}

/* Load and pin it, for attach_ready(). 0 or -errno. */
static int make_ready(const struct candidate *candidate, const char *links_dir, __u32 generation)
{
	_cleanup_probes_ struct probes *probes = NULL;
	struct bpf_program *program;
	char path[PINS_PATH_MAX];
	int err = load_one(candidate, generation, &probes, &program);

	return err ? err
		   : bpf_obj_pin(bpf_program__fd(program),
				 ready_path(path, links_dir, generation, candidate->program));
}

/* Attach a program that was loaded before. 0 or -errno. */
static int attach_ready(const struct candidate *candidate, const char *links_dir, __u32 generation)
{
	char path[PINS_PATH_MAX];
	_cleanup_close_ int link = -1, program = bpf_obj_get(ready_path(path, links_dir, generation,
									candidate->program));

	if (program < 0)
		return program;
	link = bpf_raw_tracepoint_open(NULL, program);
	return link < 0
		   ? link
		   : bpf_obj_pin(link, pin_path(path, links_dir, generation, candidate->program));
}

static int attach_one(const struct candidate *candidate, const char *links_dir, __u32 generation,
		      struct probe_hook *ret_hook)
{
	_cleanup_probes_ struct probes *probes = NULL;
	struct bpf_program *program;
	struct bpf_link *link;
	char path[PINS_PATH_MAX];
	int err = load_one(candidate, generation, &probes, &program);

	if (err)
		return err;
	link = bpf_program__attach(program);
	if (!link)
		return -errno;
	err = keep(link, pin_path(path, links_dir, generation, candidate->program));
	if (!err)
		snprintf(ret_hook->hook, sizeof(ret_hook->hook), "%s",
			 bpf_program__section_name(program));
	return err;
}

/* The row of an event, made at its first candidate. */
static struct probe_hook *hook_of(struct probe_hooks *hooks, const char *event)
{
	struct probe_hook *hook = &hooks->event[hooks->count];

	if (hooks->count && !strcmp(hook[-1].event, event))
		return hook - 1;
	hook->event = event;
	hooks->count++;
	return hook;
}

/* May the candidate be loaded later? Only if something reports when it is needed. */
static bool may_wait(const struct candidate *candidate, const char *links_dir, __u32 generation,
		     __u32 flags)
{
	return (candidate->flag & ~flags) && is_pinned(links_dir, generation, UNIX_WATCH);
}

/* What the jobs of one set of probes share, and the event that is this one's. */
struct attaching {
	const char *links_dir;
	__u32 generation, flags;
	struct probe_hook *hook;
};

/* The candidates of one event, one after the other until there is a hook. */
static int attach_event(void *data)
{
	const struct attaching *set = data;
	struct probe_hook *hook = set->hook;

	for (size_t i = 0; i < CANDIDATES && !hook->hook[0] && !hook->waits; i++) {
		if (strcmp(candidates[i].event, hook->event) != 0)
			continue;
		hook->waits = may_wait(&candidates[i], set->links_dir, set->generation, set->flags);
		if (!hook->waits)
			hook->err =
			    attach_one(&candidates[i], set->links_dir, set->generation, hook);
	}
	return 0;
}

/* In parallel, since verifying takes long. 0, or -ECANCELED. */
static int attach_events(const struct attaching *set, struct probe_hooks *hooks)
{
	struct attaching events[PROBE_EVENTS_MAX];
	struct job jobs[PROBE_EVENTS_MAX];
	int err = 0;

	for (unsigned int i = 0; i < hooks->count; i++) {
		events[i] = *set;
		events[i].hook = &hooks->event[i];
		jobs[i] = (struct job){.run = attach_event, .data = &events[i]};
	}
	jobs_run(jobs, hooks->count);
	for (unsigned int i = 0; i < hooks->count; i++)
		err = jobs[i].err ? jobs[i].err : err;
	return err;
}

int probes_attach(const char *links_dir, __u32 generation, __u32 flags,
		  struct probe_hooks *ret_hooks)
{
	const struct attaching set = {links_dir, generation, flags, NULL};
	int missing = 0, err;

	*ret_hooks = (struct probe_hooks){};
	for (size_t i = 0; i < CANDIDATES; i++)
		hook_of(ret_hooks, candidates[i].event);
	attach_watch(links_dir, generation);
	err = attach_events(&set, ret_hooks);
	if (err)
		return err;
	for (size_t i = 0; i < CANDIDATES; i++) {
		struct probe_hook *hook = &ret_hooks->event[0];

		while (strcmp(hook->event, candidates[i].event) != 0)
			hook++;
		if (candidates[i].required && !hook->hook[0])
			missing = hook->err;
	}
	return missing;
}

/* Has one of the event's candidates such a pin? */
static bool any_is(bool (*is)(const char *links_dir, __u32 generation, const char *program),
		   const char *event, const char *links_dir, __u32 generation)
{
	for (size_t i = 0; i < CANDIDATES; i++)
		if (!strcmp(candidates[i].event, event) &&
		    is(links_dir, generation, candidates[i].program))
			return true;
	return false;
}

/* Does the candidate's event wait for its flag? */
static bool waits(const struct candidate *candidate, const char *links_dir, __u32 generation)
{
	return may_wait(candidate, links_dir, generation, 0) &&
	       !any_is(is_pinned, candidate->event, links_dir, generation);
}

bool probes_wait(const char *links_dir, __u32 generation)
{
	for (size_t i = 0; i < CANDIDATES; i++)
		if (waits(&candidates[i], links_dir, generation))
			return true;
	return false;
}

int probes_make_ready(const char *links_dir, __u32 generation)
{
	int err = 0;

	for (size_t i = 0; i < CANDIDATES; i++) {
		const char *event = candidates[i].event;

		if (!candidates[i].flag || any_is(is_pinned, event, links_dir, generation) ||
		    any_is(is_ready, event, links_dir, generation))
			continue;
		err = make_ready(&candidates[i], links_dir, generation);
	}
	return err;
}

int probes_attach_waiting(const char *links_dir, __u32 generation, __u32 flags)
{
	int err = 0;

	for (size_t i = 0; !err && i < CANDIDATES; i++) {
		const struct candidate *candidate = &candidates[i];

		if (!(candidate->flag & flags) ||
		    any_is(is_pinned, candidate->event, links_dir, generation))
			continue;
		if (is_ready(links_dir, generation, candidate->program))
			err = attach_ready(candidate, links_dir, generation);
		else if (!any_is(is_ready, candidate->event, links_dir, generation))
			err = -EWOULDBLOCK;
	}
	return err;
}

int probes_find(const char *links_dir, __u32 generation, struct probe_hooks *ret_hooks)
{
	_cleanup_probes_ struct probes *probes = probes__open();
	bool any = false;

	*ret_hooks = (struct probe_hooks){};
	for (size_t i = 0; probes && i < CANDIDATES; i++) {
		struct probe_hook *hook = hook_of(ret_hooks, candidates[i].event);

		if (!is_pinned(links_dir, generation, candidates[i].program)) {
			hook->err = -ENOENT;
			hook->waits |= waits(&candidates[i], links_dir, generation);
			continue;
		}
		any = true;
		snprintf(hook->hook, sizeof(hook->hook), "%s",
			 bpf_program__section_name(
			     bpf_object__find_program_by_name(probes->obj, candidates[i].program)));
	}
	return any ? 0 : -ENOENT;
}

/* Let an iterator see everything. 0 or -errno. */
static int iterate(const char *links_dir, __u32 generation, const char *program)
{
	char path[PINS_PATH_MAX], nothing[64];
	_cleanup_close_ int fd =
	    open(pin_path(path, links_dir, generation, program), O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return -errno;
	do
		length = read(fd, nothing, sizeof(nothing));
	while (length > 0 || (length < 0 && (errno == EAGAIN || errno == EINTR)));
	return length < 0 ? -errno : 0;
}

int probes_look_back(const char *links_dir, __u32 generation)
{
	return iterate(links_dir, generation, OLDER);
}

int probes_look_for_listeners(const char *links_dir, __u32 generation)
{
	return iterate(links_dir, generation, LISTENER);
}

static int detach_if_other(const char *path, const char *name, void *data)
{
	const __u32 *generation = data;

	if (*generation && strtoul(name, NULL, 10) == *generation)
		return 0;
	return unlink(path) ? -errno : 0;
}

int probes_detach_others(const char *links_dir, __u32 generation)
{
	return pins_each(links_dir, detach_if_other, &generation);
}

static __u64 build; /* of probes_build() */

static void find_build(void)
{
	size_t size;
	const void *bytes = probes__elf_bytes(&size);
	const __u64 off = rules_switched_off();

	build = hash_add(hash_add(HASH_BEGIN, bytes, size), &off, sizeof(off));
}

__u64 probes_build(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT; /* these are megabytes */

	pthread_once(&once, find_build);
	return build;
}
