// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/types.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "engine/model.h"
#include "inspect/proc_reader.h"
#include "load/node_map_names.h"
#include "load/node_maps.h"
#include "pins/pins.h"
#include "who/ask.h"
#include "who/who.h"
#include "who_bpf.skel.h"

/*
 * Copy the page at an address, of the process that `reader` is at, into the map (who/who.h). One
 * that cannot be read is put down as such. 0 or -errno.
 */
static int pages_copy(int map_fd, struct proc_reader *reader, __u64 address)
{
	struct who_page page = {.length = sizeof(page.bytes)};

	if (proc_reader_memory(reader, address, page.bytes, page.length)) {
		page.length = WHO_PAGE;
		if (proc_reader_memory(reader, address, page.bytes, page.length))
			page.length = 0;
	}
	return bpf_map_update_elem(map_fd, &address, &page, BPF_ANY);
}

/* Forget all pages. */
static void pages_forget(int map_fd)
{
	__u64 address;

	while (!bpf_map_get_next_key(map_fd, NULL, &address))
		if (bpf_map_delete_elem(map_fd, &address))
			return;
}

/* Sorted, each once. */
struct keys {
	struct worker_key *key;
	size_t count;
};

static int add(struct keys *keys, const struct worker_key *key)
{
	struct worker_key *grown = list_add(&keys->key, &keys->count, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*grown = *key;
	return 0;
}

/* Add those of a map with such keys. To be sorted then. 0 or -ENOMEM. */
static int keys_add(struct keys *keys, int map_fd)
{
	struct worker_key key, next, *before = NULL;
	int err = 0;

	while (!err && !bpf_map_get_next_key(map_fd, before, &next)) {
		key = next;
		before = &key;
		if (!key.tid && key.context)
			err = add(keys, &key);
	}
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct worker_key *left = a, *right = b;

	if (left->tgid != right->tgid)
		return left->tgid < right->tgid ? -1 : 1;
	return (left->context > right->context) - (left->context < right->context);
}

static void keys_sort(struct keys *keys)
{
	size_t kept = 0;

	if (!keys->count)
		return;
	qsort(keys->key, keys->count, sizeof(*keys->key), compare);
	for (size_t i = 1; i < keys->count; i++)
		if (compare(&keys->key[i], &keys->key[kept]))
			keys->key[++kept] = keys->key[i];
	keys->count = kept + 1;
}

/* The first one of a process, of `ret_count`. */
static const struct worker_key *keys_of(const struct keys *keys, __u32 tgid, size_t *ret_count)
{
	size_t first = 0, end;

	while (first < keys->count && keys->key[first].tgid < tgid)
		first++;
	for (end = first; end < keys->count && keys->key[end].tgid == tgid; end++)
		;
	*ret_count = end - first;
	return keys->key + first;
}

static void keys_free(struct keys *keys)
{
	free(keys->key);
	*keys = (struct keys){};
}

#define ROUNDS_MAX 64 /* each finds pages that the one before has led to */

struct ask {
	struct who_bpf *skel;
	struct proc_reader *reader;
	struct keys keys; /* of all processes, when it was opened */
};

/* What is told of one process. */
struct answers {
	struct who_told *told;
	size_t count;
};

/* Take a map of the daemon's; where there is none an empty one, as small as can be. */
static int use_map(struct bpf_map *map)
{
	char path[PINS_PATH_MAX];
	_cleanup_close_ int fd =
	    bpf_obj_get(pins_map_path(path, node_maps_layer_dir(), bpf_map__name(map)));

	if (fd >= 0)
		return bpf_map__reuse_fd(map, fd);
	return bpf_map__max_entries(map) ? bpf_map__set_max_entries(map, 1) : 0;
}

static int use_node(struct who_bpf *skel)
{
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map(map, skel->obj)
	{
		if (!err && node_maps_has(bpf_map__name(map)))
			err = use_map(map);
	}
	return err;
}

/* Without a daemon there is nothing to ask. */
static int node_is_there(char *ret_why)
{
	char path[PINS_PATH_MAX];
	_cleanup_close_ int fd = bpf_obj_get(pins_map_path(path, node_maps_layer_dir(), "workers"));

	if (fd >= 0)
		return 0;
	snprintf(ret_why, ASK_WHY_MAX, "%s: %s; does ctxpropd run?", path, strerror(-fd));
	return fd;
}

static int load(struct who_bpf *skel, char *ret_why)
{
	int err;

	if (!node_maps_fit(skel->obj, ret_why, ASK_WHY_MAX))
		return -EINVAL;
	err = use_node(skel);
	if (!err)
		err = who_bpf__load(skel);
	if (err)
		snprintf(ret_why, ASK_WHY_MAX, "the programs cannot be loaded: %s", strerror(-err));
	return err;
}

static int find_keys(struct ask *ask)
{
	const struct bpf_map *maps[] = {ask->skel->maps.workers, ask->skel->maps.tasks,
					ask->skel->maps.streams};
	int err = 0;

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]) && !err; i++)
		err = keys_add(&ask->keys, bpf_map__fd(maps[i]));
	keys_sort(&ask->keys);
	return err;
}

int ask_open(struct ask **ret_ask, char *ret_why)
{
	int err = node_is_there(ret_why);
	struct ask *ask;

	if (err)
		return err;
	ask = calloc(1, sizeof(*ask));
	if (ask) {
		ask->reader = proc_reader_new();
		ask->skel = who_bpf__open();
	}
	if (!ask || !ask->skel || !ask->reader) {
		ask_close(ask);
		snprintf(ret_why, ASK_WHY_MAX, "out of memory");
		return -ENOMEM;
	}
	err = load(ask->skel, ret_why);
	if (!err) {
		*ret_why = '\0';
		err = find_keys(ask);
	}
	if (err)
		ask_close(ask);
	else
		*ret_ask = ask;
	return err;
}

void ask_close(struct ask *ask)
{
	if (!ask)
		return;
	keys_free(&ask->keys);
	proc_reader_free(ask->reader);
	who_bpf__destroy(ask->skel);
	free(ask);
}

static int add_answer(struct answers *answers, const struct who_told *told)
{
	struct who_told *grown = list_add(&answers->told, &answers->count, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*grown = *told;
	return 0;
}

static void cleanup_link(struct bpf_link **link)
{
	bpf_link__destroy(*link);
}

/* The iterator over a process's threads as a file. The descriptor; -ESRCH: it is gone; or -errno.
 */
static int open_threads(const struct ask *ask, __u32 tgid)
{
	__attribute__((cleanup(cleanup_link))) struct bpf_link *link = NULL;
	union bpf_iter_link_info which = {.task.pid = tgid};
	LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &which,
		    .link_info_len = sizeof(which));

	link = bpf_program__attach_iter(ask->skel->progs.who_thread, &options);
	return link ? bpf_iter_create(bpf_link__fd(link)) : -errno;
}

static int ask_threads(const struct ask *ask, __u32 tgid, struct answers *answers)
{
	_cleanup_close_ int fd = open_threads(ask, tgid);
	struct who_told told;
	ssize_t length;
	int err = 0;

	if (fd < 0)
		return fd == -ESRCH ? 0 : fd;
	while (!err && (length = read(fd, &told, sizeof(told))) == sizeof(told))
		err = add_answer(answers, &told);
	return err || length >= 0 ? err : -errno;
}

static bool runs_on_thread(const struct answers *answers, const struct worker_key *key)
{
	for (size_t i = 0; i < answers->count; i++)
		if (answers->told[i].tid && worker_key_is(&answers->told[i].key, key))
			return true;
	return false;
}

/* Is this a task without a request, which is left out? */
static bool is_idle(const struct who_told *told)
{
	return !told->evidence && (told->veto == VETO_NONE || told->veto == VETO_NO_EVIDENCE ||
				   told->veto == VETO_ENDED);
}

static int ask_part(const struct ask *ask, const struct worker_key *key, struct answers *answers)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);
	struct who_told *told = &ask->skel->bss->told;
	int err;

	told->key = *key;
	err = bpf_prog_test_run_opts(bpf_program__fd(ask->skel->progs.who_part), &options);
	if (err)
		return err;
	return is_idle(told) || runs_on_thread(answers, key) ? 0 : add_answer(answers, told);
}

/* One round: with the pages that are there. */
static int ask_round(const struct ask *ask, __u32 tgid, struct answers *answers)
{
	size_t count;
	const struct worker_key *key = keys_of(&ask->keys, tgid, &count);
	int err;

	answers->count = 0;
	ask->skel->bss->missing_count = 0;
	err = ask_threads(ask, tgid, answers);
	if (!answers->count)
		return err;
	for (size_t i = 0; i < count && !err; i++)
		err = ask_part(ask, &key[i], answers);
	return err;
}

/* Copy what the last round has missed. */
static int copy_missing(const struct ask *ask)
{
	__u32 count = ask->skel->bss->missing_count;
	int err = 0;

	for (__u32 i = 0; i < count && i < WHO_MISSING && !err; i++)
		err = pages_copy(bpf_map__fd(ask->skel->maps.who_pages), ask->reader,
				 ask->skel->bss->missing[i]);
	return err;
}

/* One look, with memory as it is now. */
static int look(const struct ask *ask, __u32 tgid, struct answers *ret)
{
	int err = 0;

	pages_forget(bpf_map__fd(ask->skel->maps.who_pages));
	for (int round = 0; round < ROUNDS_MAX && !err; round++) {
		err = ask_round(ask, tgid, ret);
		if (err || !ask->skel->bss->missing_count)
			return err;
		err = copy_missing(ask);
	}
	return err ? err : -EAGAIN;
}

static bool is_told(const struct answers *answers, const struct who_told *told)
{
	for (size_t i = 0; i < answers->count; i++) {
		const struct who_told *other = &answers->told[i];

		if (other->tid == told->tid && worker_key_is(&other->key, &told->key) &&
		    !memcmp(&other->shown, &told->shown, sizeof(other->shown)))
			return true;
	}
	return false;
}

/*
 * A thread whose answers differ has changed meanwhile, so nothing is known of it; a task is left
 * out.
 */
static void confirm(struct answers *now, const struct answers *before)
{
	size_t kept = 0;

	for (size_t i = 0; i < now->count; i++) {
		struct who_told told = now->told[i];

		if (!is_told(before, &told)) {
			told.shown = (struct traces_ctx){};
			told.evidence = EVIDENCE_NONE;
			told.veto = VETO_NONE;
		}
		if (told.tid || !is_idle(&told))
			now->told[kept++] = told;
	}
	now->count = kept;
}

static void cleanup_answers(struct answers *answers)
{
	free(answers->told);
}

int ask_process(struct ask *ask, __u32 tgid, struct who_told **ret_told, size_t *ret_count)
{
	__attribute__((cleanup(cleanup_answers))) struct answers before = {}, now = {};
	int err = proc_reader_begin(ask->reader, tgid);

	if (err)
		return err;
	ask->skel->bss->wanted_tgid = tgid;
	err = look(ask, tgid, &before);
	if (!err)
		err = look(ask, tgid, &now);
	if (err)
		return err;
	confirm(&now, &before);
	*ret_told = now.told;
	*ret_count = now.count;
	now.told = NULL;
	return 0;
}

int ask_processes(const struct ask *ask, __u32 **ret_tgids, size_t *ret_count)
{
	const int fd = bpf_map__fd(ask->skel->maps.processes);
	_cleanup_free_ __u32 *tgids = NULL;
	__u32 key, next, *before = NULL;
	size_t count = 0;

	while (!bpf_map_get_next_key(fd, before, &next)) {
		__u32 *tgid = list_add(&tgids, &count, sizeof(*tgid));

		if (!tgid)
			return -ENOMEM;
		*tgid = key = next;
		before = &key;
	}
	*ret_tgids = tgids;
	*ret_count = count;
	tgids = NULL;
	return 0;
}
