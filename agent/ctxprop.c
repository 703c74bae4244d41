// SPDX-License-Identifier: Apache-2.0
/* ctxprop: ask and tell what ctxpropd pinned in a network namespace. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/descriptors.h"
#include "base/log.h"
#include "base/netns.h"
#include "cmd/command.h"
#include "cmd/store.h"
#include "cmd/suggest.h"

static const struct command commands[] = {
    {"stats", "s", "What became of requests, flows and packets, by reason", command_stats, NULL,
     NULL},
    {"flows", "peakx", "The live connections, one line each", command_flows, NULL, NULL},
    {"trace", "", "The requests of late, each trace as a tree", command_trace, command_trace_usage,
     &command_trace_options},
    {"why", "", "Why requests got a header or not, and which trace they belong to", command_why,
     command_why_usage, &command_store_options},
    {"top", "", "Endpoints and calls by rate, errors and time", command_top, command_top_usage,
     &command_top_options},
    {"map", "", "Who calls whom", command_map, command_map_usage, &command_map_options},
    {"who", "", "Which request threads and tasks work on now", command_who, command_who_usage,
     &command_who_options},
    {"logs", "s", "Run a program, its log lines get the ids of their traces", command_logs,
     command_logs_usage, &command_logs_options},
    {"profile", "", "What the CPUs do for which endpoint: a flame graph", command_profile,
     command_profile_usage, &command_profile_options},
    {"labels", "", "Variables of programs that are labels of their samples", command_labels,
     command_labels_usage, &command_labels_options},
    {"sql", "", "Ask the store of spans", command_sql, command_sql_usage, &command_sql_options},
    {"policy", "s", "The rules: which requests are touched, and how", command_policy,
     command_policy_usage, NULL},
    {"set", "", "Named sets of networks, for rules", command_set, command_set_usage, NULL},
    {"monitor", "", "Changes of rules and sets, as they happen", command_monitor, NULL, NULL},
    {"doctor", "", "What ctxprop needs, has, and meets on this machine", command_doctor, NULL,
     NULL},
    {"pause", "", "Stop editing; live connections stay translated", command_pause, NULL, NULL},
    {"resume", "", "Edit again", command_resume, NULL, NULL},
    {"attach", "", "Attach to a device, or in a network namespace, again", command_attach,
     command_attach_usage, NULL},
    {"detach", "f", "Remove the programs: all, those of a device, or of a network namespace",
     command_detach, command_detach_usage, NULL},
    {"drain", "", "Stop editing, wait until no connection needs us, remove everything",
     command_drain, NULL, NULL},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

enum { OPTION_VERSION = 256 };

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPTION_VERSION},
    {"netns", required_argument, NULL, 'n'},
    {"statistics", no_argument, NULL, 's'},
    COMMAND_COMMON_OPTIONS,
    {},
};

static void print_help(void)
{
	printf("Usage: ctxprop [--netns NAME|PID|PATH] COMMAND [options]\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-8s %s\n", commands[i].name, commands[i].summary);
	printf("\n"
	       "  -n, --netns   the network namespace to work in (default: this one)\n"
	       "  -j, --json    print JSON (this and the next may also stand behind a command)\n"
	       "  -o, --oneline print one line for each thing\n"
	       "  -c, --color[=WHEN]  always, auto (on a terminal: the default) or never\n"
	       "  -s, --statistics  show more, where a command can\n"
	       "  -h, --help    show this help, or that of a command\n"
	       "      --version show the version\n");
}

static int enter(const char *which)
{
	int err = netns_enter(which);

	if (err)
		command_refuse("--netns %s: %s", which, netns_why(err));
	return err;
}

/* What may have been meant by a command that there is not. */
static void suggest(const char *word)
{
	const char *meant = suggest_alias(word);

	for (size_t i = 0; !meant && i < COMMANDS; i++)
		if (suggest_is_near(word, commands[i].name))
			meant = commands[i].name;
	if (meant)
		fprintf(stderr, "; did you mean 'ctxprop %s'?", meant);
}

static int run(int argc, char **argv, struct command_flags *flags)
{
	if (!argc) {
		fprintf(stderr, "ctxprop: no command given\nTry: ctxprop --help\n");
		return COMMAND_USAGE;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(argv[0], commands[i].name))
			return command_run(&commands[i], argc, argv, flags);
	fprintf(stderr, "ctxprop: unknown command '%s'", argv[0]);
	suggest(argv[0]);
	fprintf(stderr, "\nTry: ctxprop --help\n");
	return COMMAND_USAGE;
}

/* What cannot be written is not done: a full disk, a pipe that is closed. */
static int finish(int status)
{
	bool failed = ferror(stdout);

	errno = 0;
	if ((fflush(stdout) || failed) && status == COMMAND_OK)
		return command_refuse("standard output cannot be written: %s",
				      strerror(errno ? errno : EIO));
	return status;
}

static int read_and_run(int argc, char **argv)
{
	struct command_flags flags = {};
	int option;

	/* "+": the options of a command are its own. */
	while ((option = getopt_long(argc, argv, "+hsn:" COMMAND_COMMON_LETTERS, options, NULL)) !=
	       -1) {
		switch (option) {
		case 'h':
			print_help();
			return COMMAND_OK;
		case OPTION_VERSION:
			printf("ctxprop %s\n", CTXPROP_VERSION);
			return COMMAND_OK;
		case 's':
			flags.statistics = true;
			break;
		case 'n':
			if (enter(optarg))
				return COMMAND_REFUSED;
			break;
		case '?':
			return COMMAND_USAGE;
		default:
			if (command_common(&flags, option, optarg))
				return COMMAND_USAGE;
		}
	}
	return run(argc - optind, argv + optind, &flags);
}

int main(int argc, char **argv)
{
	descriptors_open_standard();
	log_capture_libbpf();
	return finish(read_and_run(argc, argv));
}
