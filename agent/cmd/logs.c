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

static const struct option own_options[] = {
    {"journal", no_argument, NULL, 'J'},
    {"unit", required_argument, NULL, 'u'},
    {"since", required_argument, NULL, 'S'},
    {"stdin", no_argument, NULL, 'I'},
    COMMAND_STORE_OPTION,
};

const char command_logs_usage[] =
    "  ctxprop logs -- COMMAND [ARGS]\n"
    "                         run COMMAND; lines that it writes for a request get the ids of the\n"
    "                         trace: trace_id=... span_id=... at the end of text, as the last\n"
    "                         members of a JSON object; all others pass as they are\n"
    "  ctxprop logs --journal print entries of the journal as JSON, those that were written for a\n"
    "                         request with members TRACE_ID and SPAN_ID, out of the store\n"
    "\n"
    "  -u, --unit UNIT        of the journal: only those of this unit\n"
    "      --since TIME       only those since then, as journalctl(1) takes it\n"
    "      --stdin            read what `journalctl -o json` has printed\n" COMMAND_STORE_HELP "\n"
    "The exit status is COMMAND's. -s says at the end, on stderr, what became of the lines.\n";

static int set_option(int letter, const char *word)
{
	switch (letter) {
	case 'J':
		wanted.journal = true;
		break;
	case 'u':
		wanted.options.unit = word;
		break;
	case 'S':
		wanted.options.since = word;
		break;
	case 'I':
		wanted.options.from_stdin = true;
		break;
	default:
		command_set_store(word);
	}
	return COMMAND_OK;
}

const struct command_options command_logs_options = {
    .list = own_options,
    .count = sizeof(own_options) / sizeof(own_options[0]),
    .letters = "u:",
    .set = set_option,
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
