// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <bpf/bpf.h>
#include <jansson.h>

#include "base/cleanup.h"
#include "base/foreign.h"
#include "base/hex.h"
#include "base/number.h"
#include "base/proc.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "engine/traces.h"
#include "load/node_maps.h"

#define PIDS_MAX 4194304 /* PID_MAX_LIMIT of 64-bit kernels */

const char command_who_usage[] =
    "  ctxprop who                   the threads of this host that work on requests now\n"
    "  ctxprop who PID[/TID]         those of a process, or one thread; exit status 1 if none "
    "does\n"
    "\n"
    "Each line: PID/TID, its name, trace id, span id. What it reads is " NODE_TRACES_PATH ".\n";

/* Who is asked about, and what was found. */
struct looking {
	unsigned long tgid, tid; /* 0: any */
	json_t *array;           /* NULL: text */
	unsigned int found;
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

static void show(struct looking *looking, __u32 tgid, __u32 tid, const struct traces_ctx *works_on)
{
	char trace[HEX_TRACE], span[HEX_SPAN], comm[PROC_COMM_MAX];

	hex_text(trace, works_on->trace_id, sizeof(works_on->trace_id));
	hex_text(span, works_on->span_id, sizeof(works_on->span_id));
	proc_comm(comm, tgid, tid);
	looking->found++;
	if (looking->array) {
		json_array_append_new(looking->array,
				      json_pack("{sI,sI,ss%,ss,ss}", "pid", (json_int_t)tgid, "tid",
						(json_int_t)tid, "name", comm, strlen(comm),
						"trace_id", trace, "span_id", span));
		return;
	}
	printf("%u/%u ", tgid, tid);
	foreign_print(comm);
	printf(" %s %s\n", trace, span);
}

/* Threads come and go meanwhile: some may be missed, none is shown with another one's ids. */
static void look(int fd, struct looking *looking)
{
	__u64 key, *before = NULL, next;

	while (!bpf_map_get_next_key(fd, before, &next)) {
		__u32 tgid = (__u32)(next >> 32), tid = (__u32)next;
		struct traces_ctx works_on;

		key = next;
		before = &key;
		if ((looking->tgid && looking->tgid != tgid) ||
		    (looking->tid && looking->tid != tid))
			continue;
		if (!bpf_map_lookup_elem(fd, &key, &works_on))
			show(looking, tgid, tid, &works_on);
	}
}

int command_who(const struct pins *pins, const struct command_flags *flags)
{
	struct looking looking = {};
	int exit_code = read_words(flags, &looking);

	(void)pins;
	if (exit_code)
		return exit_code;
	_cleanup_close_ int fd = bpf_obj_get(NODE_TRACES_PATH);

	if (fd < 0)
		return command_refuse("%s: %s; does ctxpropd run?", NODE_TRACES_PATH,
				      strerror(-fd));
	looking.array = flags->json ? json_array() : NULL;
	look(fd, &looking);
	if (looking.array)
		exit_code = json_print(looking.array);
	return looking.tgid && !looking.found ? COMMAND_REFUSED : exit_code;
}
