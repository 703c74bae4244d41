// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "engine/model.h"
#include "runtimes/runtime.h"
#include "engine/share.h"
#include "engine/traces.h"
#include "engine/worker.h"
#include "load/node_maps.h"
#include "load/node_sweep.h"
#include "pins/pins.h"

/* The inode of the initial process namespace: PROC_PID_INIT_INO of the kernel. */
#define INITIAL_PID_NAMESPACE 0xeffffffcU

/* More than any of the maps has entries. */
#define ENTRIES_MAX (1U << 18)

/* Entries that are looked at in a step. */
#define STEP 1024

/* Processes that were asked for last; a power of two. */
#define ASKED 64

/* What maps have for a key. */
union key {
	__u32 tgid; /* what those begin with that follow */
	struct worker_key worker;
	struct process_address address;
	struct ruby_place place;
	struct share_reached reached;
	__u64 request; /* id */
	__u64 thread;  /* process and thread */
	__u64 socket;  /* its address */
};
_Static_assert(sizeof(union key) <= NODE_SWEEP_KEY, "a key fits");
_Static_assert(offsetof(struct worker_key, tgid) == 0, "a worker's key begins with its process");
_Static_assert(offsetof(struct process_address, tgid) == 0, "an address begins with its process");

/* What entries are held against. */
struct present {
	int swept;                     /* the map at hand */
	int requests, workers, traces; /* the maps */
	struct {
		__u32 tgid;
		bool gone;
	} asked[ASKED];
};

typedef bool (*is_over_fn)(struct present *present, const union key *key);

static bool numbers_are_ours(void)
{
	struct stat status;

	return !stat("/proc/self/ns/pid", &status) && status.st_ino == INITIAL_PID_NAMESPACE;
}

static bool is_process_gone(struct present *present, __u32 tgid)
{
	__u32 slot = tgid & (ASKED - 1);

	if (!tgid || present->asked[slot].tgid != tgid) {
		present->asked[slot].tgid = tgid;
		present->asked[slot].gone = kill((pid_t)tgid, 0) && errno == ESRCH;
	}
	return present->asked[slot].gone;
}

static bool is_thread_gone(struct present *present, __u32 tgid, __u32 tid)
{
	if (is_process_gone(present, tgid))
		return true;
	return tid && syscall(SYS_tgkill, tgid, tid, 0) && errno == ESRCH;
}

static bool of_process(struct present *present, const union key *key)
{
	return is_process_gone(present, key->tgid);
}

/* Remove what we have published of a thread. Entries of other writers stay. */
static void hide(const struct present *present, const struct worker_key *key)
{
	__u64 thread = traces_ctx_key(key->tgid, key->tid);
	struct traces_ctx shown;
	struct worker worker;

	if (!bpf_map_lookup_elem(present->workers, key, &worker) && worker.published &&
	    !bpf_map_lookup_elem(present->traces, &thread, &shown) &&
	    traces_ctx_span(&shown) == worker.published)
		bpf_map_delete_elem(present->traces, &thread);
}

static bool of_worker(struct present *present, const union key *key)
{
	bool gone = is_thread_gone(present, key->worker.tgid, key->worker.tid);

	if (gone && key->worker.tid)
		hide(present, &key->worker);
	return gone;
}

static bool of_thread(struct present *present, const union key *key)
{
	return is_thread_gone(present, key->thread >> 32, (__u32)key->thread);
}

/* Process 0 stands for a table that was full. */
static bool of_share(struct present *present, const union key *key)
{
	return key->reached.tgid && is_process_gone(present, key->reached.tgid);
}

static bool of_go_socket(struct present *present, const union key *key)
{
	struct go_socket socket;

	return !bpf_map_lookup_elem(present->swept, &key->socket, &socket) &&
	       is_process_gone(present, socket.tgid);
}

static bool of_written(struct present *present, const union key *key)
{
	struct written written;

	return !bpf_map_lookup_elem(present->swept, &key->socket, &written) &&
	       is_process_gone(present, written.by.tgid);
}

/* Entries of a request are made after it has begun and before it is over. */
static bool of_request(struct present *present, const union key *key)
{
	__u32 place = request_place(key->request);
	struct request request;

	return !bpf_map_lookup_elem(present->requests, &place, &request) &&
	       request.id != key->request;
}

/* Whatever is not in here has places of its own. */
static const struct swept {
	const char *map;
	is_over_fn is_over;
} sweeps[] = {
    {"workers", of_worker},       {"processes", of_process},    {"runtimes", of_process},
    {"listeners", of_process},    {"goroutines", of_process},   {"round_trips", of_process},
    {"messages", of_process},     {"go_sockets", of_go_socket}, {"starts", of_process},
    {"tasks", of_process},        {"queued", of_process},       {"python_taken", of_process},
    {"arguments", of_process},    {"written", of_written},      {"streams", of_process},
    {"objects", of_process},      {"ruby_threads", of_process}, {"ruby_queues", of_process},
    {"ruby_places", of_process},  {"v8_shapes", of_process},    {"purposes", of_process},
    {"laters", of_thread},        {"works", of_process},        {"work_done", of_thread},
    {"java_readers", of_process}, {"java_held", of_process},    {"java_begun", of_process},
    {"shares_reached", of_share}, {"tracestates", of_request},  {"adopted", of_request},
};

/* The first entry of a map, or the one that a step has ended before. Returns whether there is one.
 */
static bool find_next(const struct node_sweep *sweep, int fd, union key *ret_key)
{
	if (!sweep->looked_at)
		return !bpf_map_get_next_key(fd, NULL, ret_key);
	memcpy(ret_key, sweep->next, sizeof(*ret_key));
	return true;
}

/* Returns whether the map has more entries, of which the first is put into `sweep`. */
static bool look_at_entries(struct node_sweep *sweep, int fd, is_over_fn is_over,
			    struct present *present)
{
	union key key = {}, next = {};
	bool more = find_next(sweep, fd, &next);

	/* If the key is removed meanwhile, the kernel begins with the first one again. */
	for (int i = 0; more && i < STEP; i++) {
		key = next;
		more = !bpf_map_get_next_key(fd, &key, &next) && sweep->looked_at < ENTRIES_MAX;
		sweep->looked_at++;
		if (is_over(present, &key) && !bpf_map_delete_elem(fd, &key))
			sweep->removed += sweep->removed >= 0;
	}
	memcpy(sweep->next, &next, sizeof(next));
	return more;
}

static void fail(struct node_sweep *sweep, int err)
{
	if (sweep->removed >= 0)
		sweep->removed = err;
}

/* The same of the map at hand. */
static bool look_at_map(struct node_sweep *sweep, struct present *present)
{
	const struct swept *swept = &sweeps[sweep->map];
	char path[PINS_PATH_MAX];
	_cleanup_close_ int fd =
	    bpf_obj_get(pins_map_path(path, node_maps_layer_dir(), swept->map));

	if (fd < 0) {
		fail(sweep, fd);
		return false;
	}
	present->swept = fd;
	return look_at_entries(sweep, fd, swept->is_over, present);
}

static void step(struct node_sweep *sweep)
{
	const char *dir = node_maps_layer_dir();
	char path[PINS_PATH_MAX];
	_cleanup_close_ int requests = bpf_obj_get(pins_map_path(path, dir, "requests"));
	_cleanup_close_ int workers = bpf_obj_get(pins_map_path(path, dir, "workers"));
	_cleanup_close_ int traces = bpf_obj_get(NODE_TRACES_PATH); /* there may be none */
	struct present present = {.requests = requests, .workers = workers, .traces = traces};

	if (requests < 0 || workers < 0) {
		fail(sweep, requests < 0 ? requests : workers);
		sweep->goes_on = false;
	} else if (!look_at_map(sweep, &present)) {
		sweep->looked_at = 0;
		sweep->goes_on = ++sweep->map < sizeof(sweeps) / sizeof(sweeps[0]);
	}
}

void node_sweep_begin(struct node_sweep *sweep)
{
	*sweep = (struct node_sweep){.goes_on = numbers_are_ours()};
}

void node_sweep_step(struct node_sweep *sweep)
{
	if (sweep->goes_on)
		step(sweep);
}
