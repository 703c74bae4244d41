// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/foreign.h"
#include "cmd/bundle_facts.h"
#include "cmd/bundle_words.h"

#define LINE_MAX_BYTES 1024
#define LINES_MAX      200 /* of one file */
#define ARGUMENTS_MAX  (64UL * 1024)
#define CONFIG_FILE    "/etc/ctxprop/ctxpropd.conf"

/* Lines of a file that begin with `begin`, below its name. */
static void put_lines(FILE *out, const char *path, const char *begin)
{
	FILE *file = fopen(path, "re");
	char line[LINE_MAX_BYTES], shown[LINE_MAX_BYTES];
	int left = LINES_MAX;

	fprintf(out, "== %s\n", path);
	if (!file) {
		fprintf(out, "(%s)\n", strerror(errno));
		return;
	}
	while (left-- && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		foreign_copy(shown, sizeof(shown), line);
		if (!strncmp(line, begin, strlen(begin)))
			fprintf(out, "%s\n", shown);
	}
	fclose(file);
}

static void put_file(FILE *out, const char *path)
{
	put_lines(out, path, "");
}

static void put_link(FILE *out, const char *path)
{
	char target[PATH_MAX], shown[PATH_MAX];
	ssize_t length = readlink(path, target, sizeof(target) - 1);

	if (length < 0) {
		fprintf(out, "== %s: (%s)\n", path, strerror(errno));
		return;
	}
	target[length] = '\0';
	foreign_copy(shown, sizeof(shown), target);
	fprintf(out, "== %s: %s\n", path, shown);
}

/* Where the file systems are mounted that the programs and the daemon look at. */
static void put_mounts(FILE *out)
{
	static const char *const types[] = {"bpf", "cgroup", "cgroup2", "tracefs", "debugfs"};
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *mount;
	char folder[LINE_MAX_BYTES];

	fputs("== mounts\n", out);
	while (mounts && (mount = getmntent(mounts))) {
		for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
			if (strcmp(mount->mnt_type, types[i]) != 0)
				continue;
			foreign_copy(folder, sizeof(folder), mount->mnt_dir);
			fprintf(out, "%s %s %s\n", mount->mnt_type, folder, mount->mnt_opts);
		}
	}
	if (mounts)
		endmntent(mounts);
}

void bundle_host(FILE *out)
{
	static const char *const files[] = {
	    "/sys/kernel/security/lockdown",
	    "/sys/kernel/security/lsm",
	    "/proc/sys/kernel/unprivileged_bpf_disabled",
	    "/proc/sys/kernel/perf_event_paranoid",
	    "/proc/sys/kernel/kptr_restrict",
	    "/proc/sys/kernel/bpf_stats_enabled",
	    "/proc/sys/net/core/bpf_jit_enable",
	    "/proc/sys/net/core/bpf_jit_harden",
	    "/proc/loadavg",
	    "/proc/uptime",
	};
	struct utsname name;

	if (!uname(&name)) /* not the name of the host */
		fprintf(out, "%s %s %s %s\n", name.sysname, name.release, name.version,
			name.machine);
	fprintf(out, "processors: %ld of %ld\n", sysconf(_SC_NPROCESSORS_ONLN),
		sysconf(_SC_NPROCESSORS_CONF));
	fprintf(out, "BTF: %s\n", access("/sys/kernel/btf/vmlinux", R_OK) ? "none" : "yes");
	put_lines(out, "/etc/os-release", "PRETTY_NAME=");
	put_lines(out, "/proc/meminfo", "Mem");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		put_file(out, files[i]);
	put_mounts(out);
}

#define NO_DAEMON "no daemon answers whose process is known here\n"

void bundle_process(FILE *out, pid_t pid)
{
	static const char *const files[] = {"status", "limits", "cgroup"};
	static const char *const links[] = {"exe", "ns/net", "ns/pid", "ns/mnt"};
	char path[64];

	if (!pid) {
		fputs(NO_DAEMON, out);
		return;
	}
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, links[i]);
		put_link(out, path);
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, files[i]);
		put_file(out, path);
	}
}

/* The command line, words that end with NUL; the caller frees it. */
static char *read_arguments(pid_t pid, size_t *ret_size)
{
	char path[64], *text = calloc(1, ARGUMENTS_MAX + 1);
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	file = fopen(path, "re");
	*ret_size = text && file ? fread(text, 1, ARGUMENTS_MAX, file) : 0;
	if (file)
		fclose(file);
	return text;
}

static void put_word(FILE *out, const char *word)
{
	char told[LINE_MAX_BYTES];

	bundle_word(word, told, sizeof(told));
	fprintf(out, "%s\n", told);
}

/* The words of the command line. Returns the file of options that they name. */
static const char *put_arguments(FILE *out, const char *text, size_t size)
{
	const char *config = CONFIG_FILE, *end = text + size;
	bool is_next = false;

	fputs("== command line, a word a line\n", out);
	for (const char *word = text; word < end; word += strlen(word) + 1) {
		put_word(out, word);
		if (is_next)
			config = word;
		is_next = !strcmp(word, "--config");
		if (!strncmp(word, "--config=", 9))
			config = word + 9;
	}
	return config;
}

/* Does a path lead the daemon to the same file as us? */
static bool has_our_root(pid_t pid)
{
	struct stat ours, theirs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	return !stat("/", &ours) && !stat(path, &theirs) && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}

static void put_config(FILE *out, pid_t pid, const char *path)
{
	char line[LINE_MAX_BYTES];
	FILE *file;

	fputs("== file of options, without comments\n", out);
	if (*path != '/' || !has_our_root(pid)) {
		fputs("(none that has the same name here)\n", out);
		return;
	}
	file = fopen(path, "re");
	if (!file) {
		fprintf(out, "(%s)\n", strerror(errno));
		return;
	}
	for (int left = LINES_MAX; left && fgets(line, sizeof(line), file); left--)
		if (bundle_is_option(line))
			put_word(out, line);
	fclose(file);
}

void bundle_options(FILE *out, pid_t pid)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;

	if (!pid) {
		fputs(NO_DAEMON, out);
		return;
	}
	text = read_arguments(pid, &size);
	if (text)
		put_config(out, pid, put_arguments(out, text, size));
}
