// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "abi.h"
#include "base/beside.h"
#include "base/cleanup.h"
#include "base/gzip.h"
#include "base/tar.h"
#include "base/version.h"
#include "cmd/bundle.h"
#include "cmd/bundle_facts.h"
#include "cmd/json.h"
#include "cmd/run_self.h"
#include "cmd/talk.h"

#define FOLDER    "ctxprop-bundle/"
#define FILE_MODE 0600
#define WORDS_MAX 4

static void put_version(FILE *out, pid_t pid)
{
	(void)pid;
	fprintf(out, "ctxprop %s (ABI %d)\n", CTXPROP_VERSION, CTXPROP_ABI_VERSION);
}

static void put_host(FILE *out, pid_t pid)
{
	(void)pid;
	bundle_host(out);
}

/* What is in it: what a command prints, or what a function writes. */
static const struct entry {
	const char *name, *what;
	const char *words[WORDS_MAX]; /* of a command */
	void (*put)(FILE *out, pid_t pid);
} entries[] = {
    {"version.txt", "the version of this command", .put = put_version},
    {"doctor.txt", "what ctxprop needs, has and finds: kernel, hooks, devices by name",
     .words = {"doctor"}},
    {"stats.txt", "requests, connections and packets, counted by what became of them",
     .words = {"stats", "-s"}},
    {"policy.txt", "the rules in force, with the networks and hosts that they name",
     .words = {"policy", "show", "-s"}},
    {"sets.txt", "the named sets of networks", .words = {"set"}},
    {"options.txt", "the daemon's options; of URLs only scheme, host and port",
     .put = bundle_options},
    {"process.txt", "the daemon's process: rights, limits, cgroup", .put = bundle_process},
    {"host.txt", "kernel, distribution, settings for BPF, memory, mounts", .put = put_host},
};
#define ENTRIES (sizeof(entries) / sizeof(entries[0]))

/* Its contents, for the caller to free; NULL: no memory. */
static char *make(const struct entry *entry, pid_t pid, size_t *ret_size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_size);

	if (!out)
		return NULL;
	if (entry->put)
		entry->put(out, pid);
	else
		run_self(entry->words, out);
	return fclose(out) ? NULL : text;
}

/* Add one, and tell of it. 0 or -errno. */
static int add(const struct entry *entry, FILE *archive, pid_t pid, json_t *told)
{
	_cleanup_free_ char *text = NULL;
	char name[TAR_NAME_MAX + 1];
	size_t size = 0;

	text = make(entry, pid, &size);
	if (!text)
		return -ENOMEM;
	snprintf(name, sizeof(name), FOLDER "%s", entry->name);
	json_array_append_new(told, json_pack("{ss, sI, ss}", "name", name, "bytes",
					      (json_int_t)size, "what", entry->what));
	return tar_add(archive, name, text, size, time(NULL));
}

/* All of them; the archive is the caller's to free. 0 or -errno. */
static int collect(char **ret_archive, size_t *ret_size, json_t *told)
{
	FILE *archive = open_memstream(ret_archive, ret_size);
	struct policy_error error;
	struct talk_daemon daemon;
	int err = 0;

	if (!archive)
		return -ENOMEM;
	if (talk_find_daemon(&daemon, &error))
		daemon.pid = 0;
	for (size_t i = 0; !err && i < ENTRIES; i++)
		err = add(&entries[i], archive, daemon.pid, told);
	tar_end(archive);
	return fclose(archive) ? -ENOMEM : err;
}

struct bytes {
	__u8 *bytes;
	size_t size;
};

static int write_bytes(const void *data, FILE *out)
{
	const struct bytes *bytes = data;

	return fwrite(bytes->bytes, 1, bytes->size, out) == bytes->size ? 0 : -EIO;
}

static int tell(const char *file, const struct command_flags *flags, json_t *told)
{
	const json_t *row;
	size_t i;

	if (flags->json)
		return json_print(told);
	json_array_foreach(told, i, row)
	    printf("%-27s %7lld  %s\n", json_string_value(json_object_get(row, "name")),
		   (long long)json_integer_value(json_object_get(row, "bytes")),
		   json_string_value(json_object_get(row, "what")));
	printf("%s: for root alone; look at it before you pass it on\n", file);
	json_decref(told);
	return COMMAND_OK;
}

int bundle_write(const char *file, const struct command_flags *flags)
{
	_cleanup_free_ char *archive = NULL;
	json_t *told = json_array();
	struct bytes packed = {};
	size_t size = 0;
	int err = collect(&archive, &size, told);

	if (!err)
		err = gzip((const __u8 *)archive, size, &packed.bytes, &packed.size);
	if (!err)
		err = beside_write(file, FILE_MODE, write_bytes, &packed);
	free(packed.bytes);
	if (!err)
		return tell(file, flags, told);
	json_decref(told);
	return command_refuse("--bundle %s: %s", file, strerror(-err));
}
