// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "logs/run.h"

const char command_logs_usage[] =
    "  ctxprop logs -- COMMAND [ARGS]\n"
    "                         run COMMAND; lines that it writes for a request get the ids of the\n"
    "                         trace: trace_id=... span_id=... at the end of text, as the last\n"
    "                         members of a JSON object; all others pass as they are\n"
    "\n"
    "The exit status is COMMAND's. -s says at its end, on stderr, what became of the lines.\n";

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
	if (!flags->count)
		return command_misused("logs: expected -- COMMAND [ARGS]");
	return run(flags);
}
