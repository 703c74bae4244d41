// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/logs_journal.h"
#include "cmd/store.h"
#include "logs/run.h"

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
