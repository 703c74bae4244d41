// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>

#include "base/cleanup.h"
#include "base/foreign.h"
#include "base/hex.h"
#include "base/number.h"
#include "base/proc.h"
#include "base/rule_names.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "engine/habits.h"
#include "runtimes/runtime.h"
#include "who/ask.h"

#define PIDS_MAX 4194304 /* PID_MAX_LIMIT of 64-bit kernels */

const char command_who_usage[] =
    "  ctxprop who              the threads and tasks of this host that work on requests now\n"
    "  ctxprop who PID[/TID]    all those of a process, or of one thread; exit status 1 if none\n"
    "                           works on a request\n"
    "\n"
    "Each line: PID/TID (-: runs on no thread), name, what it is if it is no thread (task,\n"
    "goroutine, greenlet, stream), trace id, span id and the evidence (ctxprop-stats(7)), or\n"
    "'none' and the reason. 'waits': it is not at work at the moment.\n";

static bool wants_all;

const struct option_row command_who_options[] = {
    {"all", 'a', NULL, "show threads that work on no request, too", .flag = &wants_all},
    {},
};

/* Who is asked about, and what was found. */
struct looking {
	struct ask *ask;
	unsigned long tgid, tid; /* 0: any */
	bool all;                /* also who works on nothing */
	json_t *array;           /* NULL: text */
	unsigned int found;      /* that work on a request */
};

/* "PID" or "PID/TID". COMMAND_OK or COMMAND_USAGE. */
static int read_words(const struct command_flags *flags, struct looking *looking)
{
	const char *word = flags->count ? flags->words[0] : "", *slash = strchr(word, '/');
	char pid[16];
	size_t length = slash ? (size_t)(slash - word) : strlen(word);
	int err = length < sizeof(pid) ? 0 : -EINVAL;

	if (flags->count > 1)
		return command_misused("who: unexpected argument '%s'", flags->words[1]);
	if (!flags->count)
		return COMMAND_OK;
	snprintf(pid, sizeof(pid), "%.*s", (int)length, word);
	if (!err)
		err = number_parse(pid, 1, PIDS_MAX, &looking->tgid);
	if (!err && slash)
		err = number_parse(slash + 1, 1, PIDS_MAX, &looking->tid);
	return err ? command_misused("who: '%s': expected PID or PID/TID", word) : COMMAND_OK;
}

static const char *const what_names[WHO_WHATS] = {
    [WHO_GOROUTINE] = "goroutine", [WHO_TASK] = "task",     [WHO_CONTEXT] = "context",
    [WHO_GREENLET] = "greenlet",   [WHO_STREAM] = "stream", [WHO_VIRTUAL] = "virtual",
};

#define PART_MAX 48 /* of its text */

/* "task 0x7f12...", "virtual 23"; empty: a thread. */
static const char *part_text(const struct who_told *told, char ret[PART_MAX])
{
	const char *name = told->what < WHO_WHATS ? what_names[told->what] : NULL;

	*ret = '\0';
	if (name && told->what == WHO_VIRTUAL)
		snprintf(ret, PART_MAX, "%s %llu", name, told->key.context & ~JAVA_VIRTUAL);
	else if (name)
		snprintf(ret, PART_MAX, "%s 0x%llx", name, told->key.context);
	return ret;
}

/* The name as other commands print it, or NULL. */
static const char *rule_text(__u32 rule)
{
	const struct rule_row *row = rule_row(rule);

	return row ? row->name : NULL;
}

static bool has_request(const struct who_told *told)
{
	return told->evidence != EVIDENCE_NONE;
}

static json_t *number_or_null(__u32 number)
{
	return number ? json_integer(number) : json_null();
}

static json_t *json_of(const struct who_told *told, const char *comm, const char *trace,
		       const char *span)
{
	char part[PART_MAX];

	part_text(told, part);
	return json_pack("{sI,so,ss%,ss?,ss?,ss?,ss?,ss?,ss}", "pid", (json_int_t)told->key.tgid,
			 "tid", number_or_null(told->tid), "name", comm, strlen(comm), "trace_id",
			 trace, "span_id", span, "task", *part ? part : NULL, "evidence",
			 rule_text(RULE_BY(told->evidence)), "veto",
			 rule_text(RULE_VETO(told->veto)), "state", told->waits ? "waits" : "runs");
}

static void print_worker(const struct who_told *told, const char *comm)
{
	char part[PART_MAX];

	printf("%u/", told->key.tgid);
	if (told->tid)
		printf("%u ", told->tid);
	else
		printf("- ");
	foreign_print(comm);
	if (*part_text(told, part))
		printf(" %s", part);
}

static void print_line(const struct who_told *told, const char *comm, const char *trace,
		       const char *span)
{
	const char *veto = rule_text(RULE_VETO(told->veto));

	print_worker(told, comm);
	if (trace)
		printf(" %s %s %s", trace, span, rule_text(RULE_BY(told->evidence)));
	else
		printf(" none%s%s", veto ? " " : "", veto ? veto : "");
	printf("%s\n", told->waits ? " waits" : "");
}

static void show(struct looking *looking, const struct who_told *told)
{
	char trace[HEX_TRACE], span[HEX_SPAN], comm[PROC_COMM_MAX];
	const bool has = has_request(told);

	if (!has && !looking->all)
		return;
	hex_text(trace, told->shown.trace_id, sizeof(told->shown.trace_id));
	hex_text(span, told->shown.span_id, sizeof(told->shown.span_id));
	proc_comm(comm, told->key.tgid, told->tid ? told->tid : told->key.tgid);
	looking->found += has;
	if (looking->array)
		json_array_append_new(looking->array,
				      json_of(told, comm, has ? trace : NULL, has ? span : NULL));
	else
		print_line(told, comm, has ? trace : NULL, has ? span : NULL);
}

/* A thread that changes faster than it can be read is left out. */
static int look_at(struct looking *looking, __u32 tgid)
{
	_cleanup_free_ struct who_told *told = NULL;
	size_t count = 0;
	int err = ask_process(looking->ask, tgid, &told, &count);

	if (err == -EAGAIN)
		return 0;
	for (size_t i = 0; i < count && !err; i++)
		if (!looking->tid || looking->tid == told[i].tid)
			show(looking, &told[i]);
	return err;
}

static int look_at_all(struct looking *looking)
{
	_cleanup_free_ __u32 *tgids = NULL;
	size_t count = 0;
	int err = ask_processes(looking->ask, &tgids, &count);

	for (size_t i = 0; i < count && !err; i++)
		err = look_at(looking, tgids[i]);
	return err;
}

static int look(struct looking *looking)
{
	int err = looking->tgid ? look_at(looking, (__u32)looking->tgid) : look_at_all(looking);

	return err ? command_refuse("who: %s", strerror(-err)) : COMMAND_OK;
}

int command_who(const struct pins *pins, const struct command_flags *flags)
{
	struct looking looking = {.all = wants_all};
	int exit_code = read_words(flags, &looking);
	char why[ASK_WHY_MAX];

	(void)pins;
	if (exit_code)
		return exit_code;
	if (ask_open(&looking.ask, why))
		return command_refuse("%s", why);
	looking.all |= looking.tgid != 0;
	looking.array = flags->json ? json_array() : NULL;
	exit_code = look(&looking);
	ask_close(looking.ask);
	if (looking.array && json_print(looking.array))
		exit_code = COMMAND_REFUSED;
	return looking.tgid && !looking.found ? COMMAND_REFUSED : exit_code;
}
