// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "cmd/command.h"
#include "cmd/store.h"
#include "logs/line.h"
#include "logs/past.h"
#include "logs/run.h"
#include "logs/threads.h"

struct journal_options {
	bool from_stdin;   /* entries come from there, else from journalctl(1) */
	const char *unit;  /* NULL: all */
	const char *since; /* as journalctl takes it; NULL: all */
};

#define NS_PER_US 1000
#define PIDS_MAX  4194304 /* PID_MAX_LIMIT of 64-bit kernels */
#define WORDS_MAX 8

/* Why an entry got ids or not: X(id, in words). */
#define JOURNAL_RESULTS_TABLE(X)                                                                   \
	X(IDS, "with ids")                                                                         \
	X(FORM, "that are not entries, or have ids already")                                       \
	X(UNDATED, "without the time and process of their writer")                                 \
	X(THREAD, "of a process that is gone or may do several things at once, or without TID=")   \
	X(NONE, "of threads that served no stored request then")                                   \
	X(UNCERTAIN, "of threads of which it is not certain what they served")

#define JOURNAL_RESULT_ENUM(id, words) JOURNAL_##id,
enum journal_result { JOURNAL_RESULTS_TABLE(JOURNAL_RESULT_ENUM) JOURNAL_RESULTS };
#undef JOURNAL_RESULT_ENUM

#define JOURNAL_RESULT_WORDS(id, words) words,
static const char *const result_words[] = {JOURNAL_RESULTS_TABLE(JOURNAL_RESULT_WORDS)};

/* Where answers are. */
struct journal {
	struct past *past;
	int processes_fd; /* threads_open() */
};

/* Who has written an entry, and when. */
struct entry {
	unsigned long pid, tid; /* 0: not told */
	unsigned long us;       /* CLOCK_REALTIME */
};

static unsigned long field(const json_t *document, const char *name, unsigned long max)
{
	const char *text = json_string_value(json_object_get(document, name));
	unsigned long number;

	return text && !number_parse(text, 1, max, &number) ? number : 0;
}

/* The time of writing is not that of arrival: output of services has only that. */
static int read_entry(const char *line, size_t size, struct entry *ret_entry)
{
	json_t *document = json_loadb(line, size, JSON_ALLOW_NUL, NULL);
	bool is_object = json_is_object(document);

	*ret_entry = (struct entry){
	    .pid = field(document, "_PID", PIDS_MAX),
	    .tid = field(document, "TID", PIDS_MAX),
	    .us = field(document, "_SOURCE_REALTIME_TIMESTAMP", INT64_MAX / NS_PER_US)};
	json_decref(document);
	return is_object ? 0 : -EINVAL;
}

/* Find the request for which an entry was written. Returns JOURNAL_IDS, or why it is not known. */
static enum journal_result look(const struct journal *journal, const struct entry *entry,
				struct traces_ctx *ret_ids)
{
	__s64 wall_ns = (__s64)entry->us * NS_PER_US;
	enum threads_kind kind;

	if (!entry->pid || !entry->us)
		return JOURNAL_UNDATED;
	kind = threads_kind(journal->processes_fd, (__u32)entry->pid, wall_ns);
	if (kind == THREADS_UNKNOWN || (kind == THREADS_SEVERAL && !entry->tid))
		return JOURNAL_THREAD;
	switch (past_find(journal->past, (__u32)entry->pid, (__u32)entry->tid, wall_ns, ret_ids)) {
	case 0:
		return JOURNAL_IDS;
	case -ENOENT:
		return JOURNAL_NONE;
	default:
		return JOURNAL_UNCERTAIN;
	}
}

static enum journal_result print_line(const struct journal *journal, const char *line, size_t size)
{
	static const struct line_names names = {"TRACE_ID", "SPAN_ID"};
	enum journal_result result = JOURNAL_FORM;
	struct buffer out = {};
	struct traces_ctx ids;
	struct entry entry;

	if (!read_entry(line, size, &entry))
		result = look(journal, &entry, &ids);
	if (result == JOURNAL_IDS && !line_add_members(line, size, &names, &ids, &out))
		result = JOURNAL_FORM;
	if (result == JOURNAL_IDS && !out.failed)
		fwrite(out.text, 1, out.size, stdout);
	else
		fwrite(line, 1, size, stdout);
	buffer_free(&out);
	return result;
}

static void print_lines(const struct journal *journal, FILE *from, bool counts)
{
	unsigned long count[JOURNAL_RESULTS] = {};
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	ssize_t size;

	while ((size = getline(&line, &room, from)) > 0) {
		size_t length = (size_t)size - (line[size - 1] == '\n');

		count[print_line(journal, line, length)]++;
		if (length < (size_t)size)
			putchar('\n');
	}
	for (enum journal_result i = 0; counts && i < JOURNAL_RESULTS; i++)
		fprintf(stderr, "ctxprop: logs: %lu entries %s\n", count[i], result_words[i]);
}

/* Start journalctl. Returns what it prints, or NULL after a complaint. */
static FILE *start(const struct journal_options *options, pid_t *ret_pid)
{
	const char *words[WORDS_MAX] = {"journalctl", "--output=json", "--no-pager"};
	size_t count = 3;
	int ends[2];

	if (options->unit) {
		words[count++] = "-u";
		words[count++] = options->unit;
	}
	if (options->since) {
		words[count++] = "-S";
		words[count++] = options->since;
	}
	if (pipe2(ends, O_CLOEXEC)) {
		command_refuse("logs: %s", strerror(errno));
		return NULL;
	}
	*ret_pid = fork();
	if (!*ret_pid) {
		dup2(ends[1], STDOUT_FILENO);
		execvp(words[0], (char *const *)words);
		command_refuse("logs: %s: %s", words[0], strerror(errno));
		_exit(COMMAND_REFUSED);
	}
	close(ends[1]);
	return fdopen(ends[0], "re");
}

static int wait_for(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status)
		   ? COMMAND_OK
		   : COMMAND_REFUSED;
}

static int print_journal(const struct journal *journal, const struct journal_options *options,
			 bool counts)
{
	pid_t pid;
	FILE *from;

	if (options->from_stdin) {
		print_lines(journal, stdin, counts);
		return COMMAND_OK;
	}
	from = start(options, &pid);
	if (!from)
		return COMMAND_REFUSED;
	print_lines(journal, from, counts);
	fclose(from);
	return wait_for(pid);
}

/*
 * Print the entries in the form of `journalctl -o json`, those that get ids with members TRACE_ID
 * and SPAN_ID. `counts`: say at the end, on stderr, how many. Returns an exit code.
 */
static int logs_journal(const struct journal_options *options, bool counts)
{
	sqlite3 *db = command_open_store();
	struct journal journal = {.past = db ? past_new(db) : NULL, .processes_fd = threads_open()};
	int status = COMMAND_REFUSED;

	if (journal.past && journal.processes_fd < 0)
		command_refuse("logs: entries get no ids: what is known of processes cannot be "
			       "read: %s; does ctxpropd run?",
			       strerror(-journal.processes_fd));
	if (journal.past)
		status = print_journal(&journal, options, counts);
	else if (db)
		command_refuse("logs: %s", strerror(ENOMEM));
	cleanup_close(&journal.processes_fd);
	past_free(journal.past);
	sqlite3_close(db);
	return status;
}

static struct {
	bool journal;
	struct journal_options options;
} wanted;

const char command_logs_usage[] =
    "  ctxprop logs -- COMMAND [ARGS]\n"
    "                           run COMMAND, and add the ids of the trace to each line that it\n"
    "                           writes for a request: trace_id=... span_id=... at the end of a\n"
    "                           text, the last members of a JSON object; no other line changes\n"
    "  ctxprop logs --journal   print entries of the journal as JSON; those that were written\n"
    "                           for a request have members TRACE_ID and SPAN_ID\n"
    "\n"
    "The exit status is that of COMMAND.\n";

const struct option_row command_logs_options[] = {
    {"journal", 0, NULL, "read the journal", .flag = &wanted.journal},
    {"unit", 'u', "UNIT", "of the journal only this unit", .text = &wanted.options.unit},
    {"since", 0, "TIME", "only what was written since then, as journalctl(1) takes it",
     .text = &wanted.options.since},
    {"stdin", 0, NULL, "read what `journalctl -o json` has printed",
     .flag = &wanted.options.from_stdin},
    {"statistics", 's', NULL, "say at the end, on stderr, what became of the lines",
     .flag = &command_flags.statistics},
    COMMAND_STORE_OPTION,
    {},
};

static void print_counts(const struct run *run)
{
	struct line_counts counts;

	run_counts(run, &counts);
	for (enum line_result result = 0; result < LINE_RESULTS; result++)
		fprintf(stderr, "ctxprop: logs: %lu lines %s\n", counts.lines[result],
			line_result_words(result));
}

/* Returns the program's exit status, or ends as it did. */
static int run(const struct command_flags *flags)
{
	struct run *run;
	char why[256];
	int err = run_open(&run, why, sizeof(why)), status;

	if (err)
		return command_refuse("logs: %s", strerror(-err));
	if (*why)
		command_refuse("logs: lines get no ids: %s", why);
	err = run_program(run, flags->words);
	if (!err && flags->statistics)
		print_counts(run);
	status = err ? command_refuse("logs: %s: %s", flags->words[0], strerror(-err))
		     : run_end_alike(run);
	run_close(run);
	return status;
}

int command_logs(const struct pins *pins, const struct command_flags *flags)
{
	(void)pins;
	if (wanted.journal && flags->count)
		return command_misused("logs: unexpected argument '%s'", flags->words[0]);
	if (wanted.journal)
		return logs_journal(&wanted.options, flags->statistics);
	if (wanted.options.unit || wanted.options.since || wanted.options.from_stdin)
		return command_misused("logs: --unit, --since and --stdin go with --journal");
	if (!flags->count)
		return command_misused("logs: expected -- COMMAND [ARGS], or --journal");
	return run(flags);
}
