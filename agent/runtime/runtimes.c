// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/types.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "inspect/process.h"
#include "load/node_contexts.h"
#include "load/node_maps.h"
#include "pins/pins.h"
#include "runtime/departed.h"
#include "runtime/inspector.h"
#include "runtime/loader.h"
#include "runtime/looks.h"
#include "runtime/preload.h"
#include "runtime/processes.h"
#include "runtime/running.h"
#include "runtime/runtime_probes.h"
#include "runtime/runtimes.h"
#include "runtime/shown.h"
#include "runtime/unix_sockets.h"
#include "runtimes/runtime.h"

static int is_leftover(const struct worker_key *key, int runtimes_fd)
{
	struct runtime runtime;

	return key->context && bpf_map_lookup_elem(runtimes_fd, &key->tgid, &runtime);
}

/* Remove those from map `workers` whose process has no entry in map `runtimes`. */
static void leftovers_remove(int workers_fd, int runtimes_fd)
{
	struct worker_key key, next;
	int end = bpf_map_get_next_key(workers_fd, NULL, &next);

	while (!end) {
		key = next;
		end = bpf_map_get_next_key(workers_fd, &key, &next);
		if (is_leftover(&key, runtimes_fd))
			bpf_map_delete_elem(workers_fd, &key);
	}
}

#define SWEEP_SECONDS 60
/* Sweeps until publishing that was too expensive is tried again. */
#define RETRY_SWEEPS 10
/* Another daemon does the work: within this time its end is noticed. */
#define LOCK_PAUSE_MS 500

struct runtimes {
	runtimes_tell tell;
	runtimes_lack lack;
	enum publish_mode mode;
	bool http2;
	struct publish publish;
	int lock_fd; /* -1: another daemon does the work */
	int map_fd, events_fd, workers_fd;
	int news_fd; /* epoll(7): of `events`, `inspector` and `loader` */
	struct ring_buffer *events;
	struct inspector inspector;
	struct uprobe_pins pins;
	struct runtime_probes probes;
	struct preload preload; /* of `probes` */
	struct loader loader;   /* the same */
	struct looks looks;
	struct unix_sockets unix_sockets;
	struct departed departed;
	bool replaces; /* what the last daemon has attached is still there */
	__u64 next_sweep_ns;
	unsigned int sweeps;
};

static int open_map(const char *name)
{
	char path[PINS_PATH_MAX];

	return bpf_obj_get(pins_map_path(path, node_maps_layer_dir(), name));
}

int runtimes_open(runtimes_tell tell, runtimes_lack lack, enum publish_mode mode, bool http2,
		  struct runtimes **ret_runtimes)
{
	struct runtimes *runtimes = calloc(1, sizeof(*runtimes));

	if (!runtimes)
		return -ENOMEM;
	*runtimes = (struct runtimes){.tell = tell,
				      .lack = lack,
				      .mode = mode,
				      .http2 = http2,
				      .lock_fd = -1,
				      .news_fd = -1,
				      .inspector.epoll_fd = -1,
				      .loader.news_fd = -1};
	departed_open(&runtimes->departed);
	runtimes->map_fd = open_map("runtimes");
	runtimes->events_fd = open_map("runtime_events");
	runtimes->workers_fd = open_map("workers");
	if (runtimes->map_fd < 0 || runtimes->events_fd < 0 || runtimes->workers_fd < 0) {
		runtimes_close(runtimes);
		return -ENOENT;
	}
	*ret_runtimes = runtimes;
	return 0;
}

void runtimes_close(struct runtimes *runtimes)
{
	if (!runtimes)
		return;
	ring_buffer__free(runtimes->events);
	inspector_close(&runtimes->inspector);
	cleanup_close(&runtimes->news_fd);
	looks_clear(&runtimes->looks);
	preload_end(&runtimes->preload);
	loader_close(&runtimes->loader);
	runtime_probes_close(&runtimes->probes);
	uprobe_pins_close(&runtimes->pins);
	cleanup_close(&runtimes->map_fd);
	cleanup_close(&runtimes->events_fd);
	cleanup_close(&runtimes->workers_fd);
	cleanup_close(&runtimes->lock_fd);
	departed_close(&runtimes->departed);
	publish_close(&runtimes->publish);
	free(runtimes);
}

int runtimes_fd(const struct runtimes *runtimes)
{
	return runtimes && runtimes->events ? runtimes->news_fd : -1;
}

static const struct classified *known_program(const struct stat *file, void *data)
{
	const struct runtimes *runtimes = data;

	return runtime_probes_known(&runtimes->probes, file);
}

/* `flags` are those that the process had. */
static __u32 flags_of(const struct runtimes *runtimes, __u32 flags)
{
	__u32 others = flags & ~(RUNTIME_SHOWN | RUNTIME_ALWAYS | RUNTIME_COSTLY | RUNTIME_HTTP2);

	if (runtimes->http2)
		others |= RUNTIME_HTTP2;
	if (!publish_shows(&runtimes->publish))
		return others;
	if (runtimes->mode == PUBLISH_ALWAYS)
		return others | RUNTIME_SHOWN | RUNTIME_ALWAYS;
	return others | (flags & RUNTIME_COSTLY ? RUNTIME_COSTLY : RUNTIME_SHOWN);
}

/* What a process is to have by what was found in it. `flags` are those that it had. */
static void set_flags(const struct runtimes *runtimes, __u32 flags, struct classified *found)
{
	found->runtime.flags = flags_of(runtimes, flags) & ~(RUNTIME_TASKS | RUNTIME_TRANSPORTS |
							     RUNTIME_QUEUES | RUNTIME_SHOWABLE);
	if (runtime_probes_need(found, RUNTIME_SHOWN))
		found->runtime.flags |= RUNTIME_SHOWABLE;
}

/*
 * Probes have to be loaded first: then the process is looked at once more, since it may have become
 * another program by then. Returns whether it waits.
 */
static bool waits_for_probes(struct runtimes *runtimes, const struct inspection *inspection)
{
	const struct classified *found = &inspection->found;

	return !runtime_probes_are_loaded(&runtimes->probes, found) &&
	       !loader_begin(&runtimes->loader, inspection->tgid, found);
}

/* Attach to what was found in a process, with its flags. */
static void attach(struct runtimes *runtimes, struct inspection *inspection,
		   struct runtimes_news *ret_news)
{
	struct classified *found = &inspection->found;
	const struct runtime_driver *driver = runtime_driver_of(found);

	*ret_news = (struct runtimes_news){
	    .tgid = inspection->tgid,
	    .err = runtime_probes_attach(&runtimes->probes, &inspection->subject, found),
	    .language = runtime_driver_name(found),
	    .why = why_text(found->why),
	};
	if (inspection->failed)
		ret_news->refused = runtimes->inspector.refused_count;
	ret_news->kind = found->runtime.kind;
	if (driver && driver->describe && found->runtime.kind > RUNTIME_OPAQUE)
		driver->describe(found, ret_news->follows);
}

struct usage {
	const struct runtimes *runtimes;
	const struct stat *file;
	__u32 flags; /* processes with all of these count */
	bool is_used;
};

static void find_user(__u32 tgid, void *data)
{
	struct usage *usage = data;
	struct runtime known;

	if (!usage->is_used && !bpf_map_lookup_elem(usage->runtimes->map_fd, &tgid, &known) &&
	    (known.flags & usage->flags) == usage->flags)
		usage->is_used = process_runs(tgid, usage->file);
}

static bool is_used_by(const struct runtimes *runtimes, const struct stat *file, __u32 flags)
{
	struct usage usage = {.runtimes = runtimes, .file = file, .flags = flags};

	processes_each(runtimes->map_fd, find_user, &usage);
	return usage.is_used;
}

/* Stop publishing the goroutines of a process, whose flags in the map are already changed. */
static void hide(struct runtimes *runtimes, __u32 tgid, const struct stat *file)
{
	if (!is_used_by(runtimes, file, RUNTIME_SHOWN))
		runtime_probes_hide(&runtimes->probes, file, RUNTIME_SHOWN);
	node_contexts_withdraw_process(tgid);
}

/* Is it worth a line that the process runs this? Most programs only have threads. */
static bool is_news(const struct runtimes_news *news)
{
	return news->err || news->why || news->follows[0];
}

/* Was it looked at again only because it is to be shown now, or not any more? */
static bool is_switched(const struct runtimes *runtimes, const struct runtime *known,
			const struct runtime *found)
{
	return !runtimes->replaces && known->kind == found->kind &&
	       ((known->flags ^ found->flags) & RUNTIME_SHOWN);
}

/* Was the same found when the process was looked at before? */
static bool is_known(const struct runtimes *runtimes, const struct runtime *known,
		     const struct classified *found, int err)
{
	const struct runtime_driver *driver = runtime_driver_of(found);

	if (!err && is_switched(runtimes, known, &found->runtime))
		return true;
	return !err && known->kind == found->runtime.kind && driver && driver->is_same &&
	       driver->is_same(known, &found->runtime);
}

/* Publish what a process runs, if it still does: it may have become another program meanwhile. */
static void publish(struct runtimes *runtimes, struct inspection *inspection)
{
	const struct stat *program = &inspection->subject.file[SUBJECT_PROGRAM].stat;
	struct runtime *found = &inspection->found.runtime;
	__u32 tgid = inspection->tgid;
	struct runtimes_news news;
	struct runtime known;

	if (bpf_map_lookup_elem(runtimes->map_fd, &tgid, &known))
		return;
	if (inspection->err) {
		bpf_map_delete_elem(runtimes->map_fd, &tgid); /* it will be asked for again */
		return;
	}
	looks_remember(&runtimes->looks, program, found->kind != RUNTIME_THREADS);
	set_flags(runtimes, known.flags, &inspection->found);
	if (waits_for_probes(runtimes, inspection))
		return;
	attach(runtimes, inspection, &news);
	/* The entry belongs to the new program of this process, which may have asked already. */
	if (!process_runs(tgid, program)) {
		looks_add(&runtimes->looks, tgid, false);
		return;
	}
	found->changes = known.changes;
	found->second = known.second;
	bpf_map_update_elem(runtimes->map_fd, &tgid, found, BPF_EXIST);
	if (found->flags & RUNTIME_COSTLY)
		hide(runtimes, tgid, program);
	if (is_news(&news) && !is_known(runtimes, &known, &inspection->found, news.err) &&
	    !inspection->refused_before)
		runtimes->tell(&news);
}

static void take_inspections(struct runtimes *runtimes)
{
	struct inspection inspection;

	while (inspector_take(&runtimes->inspector, &inspection)) {
		publish(runtimes, &inspection);
		subject_close(&inspection.subject);
	}
}

/* `done` is what the functions of unix_sockets.h return. */
static void tell_unix_sockets(const struct runtimes *runtimes, int done)
{
	const struct runtimes_news news = {.unix_sockets = true, .err = done < 0 ? done : 0};

	if (done)
		runtimes->tell(&news);
}

/* A process has reached its share of a table, or (0) some table was full. */
static void tell_share(const struct runtimes *runtimes, __u32 tgid)
{
	const struct runtimes_news news = {.tgid = tgid, .share = true};

	runtimes->tell(&news);
}

/* Have a process looked at that the map has. 0 or -ENOMEM. */
static int look_at(struct runtimes *runtimes, __u32 tgid)
{
	struct runtime known;

	return looks_add(&runtimes->looks, tgid,
			 !bpf_map_lookup_elem(runtimes->map_fd, &tgid, &known) &&
			     known.kind != RUNTIME_WANTED);
}

static int on_event(void *data, void *record, size_t size)
{
	const struct runtime_event *event = record;
	struct runtimes *runtimes = data;

	if (size < sizeof(*event))
		return 0;
	if (event->kind == RUNTIME_EVENT_GONE)
		departed_asked(&runtimes->departed);
	if (event->kind == RUNTIME_EVENT_SHARE)
		tell_share(runtimes, event->tgid);
	if (event->kind != RUNTIME_EVENT_LOOK)
		return 0;
	unix_sockets_ask(&runtimes->unix_sockets);
	return event->tgid ? look_at(runtimes, event->tgid) : 0;
}

/* The process is not known, and asks again when it does something. 0. */
static int ask_later(const struct runtimes *runtimes, __u32 tgid)
{
	bpf_map_delete_elem(runtimes->map_fd, &tgid);
	return 0;
}

/* Begin with those who wait, as far as there is room. 0 or -errno. */
static int start_inspections(struct runtimes *runtimes)
{
	__u32 tgid;
	int err = 0;

	while (!err && inspector_has_room(&runtimes->inspector) &&
	       looks_take(&runtimes->looks, &tgid)) {
		err = inspector_start(&runtimes->inspector, tgid);
		if (err == -EAGAIN)
			err = ask_later(runtimes, tgid);
	}
	return err;
}

/* The probes of what it runs are loaded, or cannot be. */
static void look_with_probes(__u32 tgid, void *data)
{
	look_at(data, tgid);
}

static bool is_looking(const struct runtimes *runtimes)
{
	return runtimes->looks.first || inspector_runs(&runtimes->inspector) ||
	       loader_runs(&runtimes->loader);
}

/* Look at those who wait. 0 or -errno. */
static int look_at_waiting(struct runtimes *runtimes)
{
	int err;

	take_inspections(runtimes);
	loader_take(&runtimes->loader, look_with_probes, runtimes);
	err = start_inspections(runtimes);
	if (err || !runtimes->replaces || is_looking(runtimes))
		return err;
	/* What he did has been done again. */
	runtimes->replaces = false;
	return uprobe_pins_detach_others(&runtimes->pins);
}

int runtimes_update(struct runtimes *runtimes)
{
	int err = ring_buffer__consume(runtimes->events);

	return err < 0 ? err : 0;
}

/* Of two times in ms, of which -1 is never. */
static int sooner(int a, int b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

int runtimes_due_ms(const struct runtimes *runtimes)
{
	if (!runtimes)
		return -1;
	if (runtimes->lock_fd < 0)
		return LOCK_PAUSE_MS;
	if (runtimes->looks.first && inspector_has_room(&runtimes->inspector))
		return 0;
	return sooner(sooner(sooner(inspector_due_ms(&runtimes->inspector),
				    unix_sockets_due_ms(&runtimes->unix_sockets)),
			     publish_due_ms(&runtimes->publish)),
		      departed_due_ms(&runtimes->departed));
}

bool runtimes_is_done(const struct runtimes *runtimes)
{
	return runtimes->lock_fd < 0 || !is_looking(runtimes);
}

void runtimes_preload(struct runtimes *runtimes, bool all)
{
	if (runtimes->events) /* another daemon does not do the work */
		preload_begin(&runtimes->preload, &runtimes->probes, all, runtimes->tell);
}

static void look_again(__u32 tgid, void *data)
{
	struct runtimes *runtimes = data;
	struct runtime known;

	if (!bpf_map_lookup_elem(runtimes->map_fd, &tgid, &known) && known.kind != RUNTIME_THREADS)
		looks_add(&runtimes->looks, tgid, known.kind != RUNTIME_WANTED);
}

static void tell_publish(const struct runtimes *runtimes)
{
	const struct runtimes_news news = {.publish = &runtimes->publish};

	runtimes->tell(&news);
}

static void look_for_readers(__u32 tgid, void *data)
{
	look_at(data, tgid);
}

/* Somebody reads what is published, or nobody does any more. */
static void follow_readers(struct runtimes *runtimes)
{
	const bool before = publish_shows(&runtimes->publish);

	if (!publish_do(&runtimes->publish))
		return;
	if (!before && publish_shows(&runtimes->publish))
		shown_begin(runtimes->map_fd, look_for_readers, runtimes);
	if (before && !publish_shows(&runtimes->publish))
		shown_end(runtimes->map_fd, &runtimes->probes);
	tell_publish(runtimes);
}

/* The last daemon may have published what this one does not. */
static void begin_to_publish(struct runtimes *runtimes)
{
	publish_open(runtimes->mode, &runtimes->publish);
	if (!publish_shows(&runtimes->publish))
		shown_end(runtimes->map_fd, &runtimes->probes);
	if (runtimes->mode == PUBLISH_AUTO && runtimes->publish.state != NODE_PUBLISH_UNREAD)
		tell_publish(runtimes);
}

/* Returns the descriptor that holds the lock, -EWOULDBLOCK: another daemon has it, or -errno. */
static int take_lock(void)
{
	_cleanup_close_ int fd = -1;
	char path[PINS_PATH_MAX];

	fd = open(pins_join(path, node_maps_layer_dir(), "maps"),
		  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB))
		return -errno;
	return take_fd(&fd);
}

static int wait_for(struct runtimes *runtimes, int fd)
{
	struct epoll_event news = {.events = EPOLLIN};

	return epoll_ctl(runtimes->news_fd, EPOLL_CTL_ADD, fd, &news) ? -errno : 0;
}

/* Everything that runtimes_fd() tells of. 0 or -errno. */
static int open_news(struct runtimes *runtimes)
{
	int err = inspector_open(known_program, runtimes, &runtimes->inspector);

	if (err)
		return err;
	runtimes->news_fd = epoll_create1(EPOLL_CLOEXEC);
	runtimes->events = ring_buffer__new(runtimes->events_fd, on_event, runtimes, NULL);
	if (runtimes->news_fd < 0 || !runtimes->events)
		return -errno;
	err = wait_for(runtimes, ring_buffer__epoll_fd(runtimes->events));
	if (!err)
		err = wait_for(runtimes, inspector_fd(&runtimes->inspector));
	if (!err)
		err = loader_open(&runtimes->probes, &runtimes->loader);
	return err ? err : wait_for(runtimes, loader_fd(&runtimes->loader));
}

/* Inspect all that wait, and repeat what the last daemon did; its uprobes are removed last. */
static int take_over(struct runtimes *runtimes)
{
	int err = uprobe_pins_open(&runtimes->pins);

	if (!err)
		err = open_news(runtimes);
	if (err)
		return err;
	tell_unix_sockets(runtimes, unix_sockets_open(runtimes->map_fd, &runtimes->unix_sockets));
	runtime_probes_open(&runtimes->pins, runtimes->lack, &runtimes->probes);
	begin_to_publish(runtimes);
	processes_each(runtimes->map_fd, look_again, runtimes);
	runtimes->replaces = true;
	return 0;
}

/* Publishing that was too expensive some time ago may not be so now. */
static void try_again(__u32 tgid, void *data)
{
	struct runtimes *runtimes = data;
	struct runtime known;

	if (bpf_map_lookup_elem(runtimes->map_fd, &tgid, &known) || !(known.flags & RUNTIME_COSTLY))
		return;
	known.flags &= ~RUNTIME_COSTLY;
	if (!bpf_map_update_elem(runtimes->map_fd, &tgid, &known, BPF_EXIST))
		looks_add(&runtimes->looks, tgid, true);
}

/* Let go of programs that nobody runs any more. Without memory that is for the next time. */
static void forget_unused(struct runtimes *runtimes)
{
	struct running running;

	if (!running_gather(runtimes->map_fd, &running)) {
		uprobe_pins_sweep(&runtimes->pins, running_has, &running);
		runtime_probes_forget(&runtimes->probes, running_has, &running);
	}
	running_free(&running);
}

static void sweep(struct runtimes *runtimes)
{
	forget_unused(runtimes);
	leftovers_remove(runtimes->workers_fd, runtimes->map_fd);
	if (!(++runtimes->sweeps % RETRY_SWEEPS))
		processes_each(runtimes->map_fd, try_again, runtimes);
}

int runtimes_do(struct runtimes *runtimes)
{
	__u64 now = clock_now_ns();
	int err;

	if (runtimes->lock_fd < 0) {
		runtimes->lock_fd = take_lock();
		if (runtimes->lock_fd < 0)
			return runtimes->lock_fd == -EWOULDBLOCK ? 0 : runtimes->lock_fd;
		runtimes->next_sweep_ns = now + SWEEP_SECONDS * NS_PER_SECOND;
		return take_over(runtimes);
	}
	if (now >= runtimes->next_sweep_ns) {
		runtimes->next_sweep_ns = now + SWEEP_SECONDS * NS_PER_SECOND;
		sweep(runtimes);
	}
	/* First: until a process was looked at nothing is known of its requests. */
	err = look_at_waiting(runtimes);
	if (err)
		return err;
	follow_readers(runtimes);
	departed_do(&runtimes->departed);
	tell_unix_sockets(runtimes, unix_sockets_do(&runtimes->unix_sockets));
	return look_at_waiting(runtimes);
}
