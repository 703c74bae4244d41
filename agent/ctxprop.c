// SPDX-License-Identifier: Apache-2.0
/* ctxprop: shows and controls what ctxpropd has pinned in a network namespace. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/descriptors.h"
#include "base/log.h"
#include "base/misspelt.h"
#include "base/netns.h"
#include "base/version.h"
#include "cmd/command.h"
#include "cmd/store.h"

static const struct {
	const char *word, *meant;
} aliases[] = {
    {"help", "--help"},  {"version", "--version"}, {"status", "stats' or 'ctxprop doctor"},
    {"list", "flows"},   {"rules", "policy"},      {"rule", "policy"},
    {"traces", "trace"}, {"remove", "detach"},     {"stop", "pause' or 'ctxprop drain"},
    {"start", "resume"}, {"watch", "monitor"},     {"connections", "flows"},
};

/*
 * The command for a name that other programs use for it, as words behind "ctxprop "; NULL: none is
 * known.
 */
static const char *suggest_alias(const char *word)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (!strcmp(word, aliases[i].word))
			return aliases[i].meant;
	return NULL;
}

static const struct command commands[] = {
    {"stats", "Requests, connections and packets, counted by what became of them", command_stats,
     NULL, command_stats_options},
    {"flows", "Live connections, one line each", command_flows, NULL, command_flows_options},
    {"trace", "Recent traces, each as a tree of its spans", command_trace, command_trace_usage,
     command_trace_options},
    {"why", "Why requests got a header or not, and why they belong to their trace", command_why,
     command_why_usage, command_store_options},
    {"top", "Endpoints and outgoing calls by rate, errors and latency", command_top,
     command_top_usage, command_top_options},
    {"map", "Who calls whom", command_map, command_map_usage, command_map_options},
    {"who", "Which requests threads and tasks are working on now", command_who, command_who_usage,
     command_who_options},
    {"logs", "Run a program, and add the ids of traces to its log lines", command_logs,
     command_logs_usage, command_logs_options},
    {"profile", "CPU time by endpoint and function, also as a flame graph", command_profile,
     command_profile_usage, command_profile_options},
    {"labels", "Register variables of programs as labels of their samples", command_labels,
     command_labels_usage, command_labels_options},
    {"sql", "Query the store of spans", command_sql, command_sql_usage, command_sql_options},
    {"policy", "The rules: which requests are touched, and how", command_policy,
     command_policy_usage, command_policy_options},
    {"set", "Named sets of networks, for rules", command_set, command_set_usage, NULL},
    {"monitor", "Changes of rules and sets, as they happen", command_monitor, NULL, NULL},
    {"doctor", "What ctxprop needs, has, and finds on this host", command_doctor, NULL,
     command_doctor_options},
    {"pause", "Stop editing; live connections stay translated", command_pause, NULL, NULL},
    {"resume", "Edit again", command_resume, NULL, NULL},
    {"attach", "Attach to a device, or in a network namespace, again", command_attach,
     command_attach_usage, NULL},
    {"detach", "Remove the programs: all, or those of a device or a network namespace",
     command_detach, command_detach_usage, command_detach_options},
    {"drain", "Stop editing, wait until no connection needs us, remove everything", command_drain,
     NULL, NULL},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static bool wants_help, wants_version;

static int enter(const struct option_row *row, const char *which)
{
	int err = netns_enter(which);

	return err ? command_refuse("--%s %s: %s", row->name, which, netns_why(err)) : COMMAND_OK;
}

static const struct option_row own_options[] = {
    {"netns", 'n', "NETNS", "the network namespace to work in: its name, a process id or a path",
     .set = enter},
    {"statistics", 's', NULL, "show more, where a command can", .flag = &command_flags.statistics},
    {"help", 'h', NULL, "show this help, or that of a command", .flag = &wants_help},
    {"version", 0, NULL, "show the version", .flag = &wants_version},
    {},
};

static int print_help(const struct option_list *options)
{
	printf("Usage: ctxprop [options] COMMAND [options of the command]\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-8s %s\n", commands[i].name, commands[i].summary);
	putchar('\n');
	option_print(stdout, options);
	return COMMAND_OK;
}

/* Suggest a command for an unknown word. */
static void suggest(const char *word)
{
	const char *meant = suggest_alias(word);

	for (size_t i = 0; !meant && i < COMMANDS; i++)
		if (misspelt(word, commands[i].name))
			meant = commands[i].name;
	if (meant)
		fprintf(stderr, "; did you mean 'ctxprop %s'?", meant);
}

static int run(int argc, char **argv)
{
	if (!argc) {
		fprintf(stderr, "ctxprop: no command given\nTry: ctxprop --help\n");
		return COMMAND_USAGE;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(argv[0], commands[i].name))
			return command_run(&commands[i], argc, argv);
	fprintf(stderr, "ctxprop: unknown command '%s'", argv[0]);
	suggest(argv[0]);
	fprintf(stderr, "\nTry: ctxprop --help\n");
	return COMMAND_USAGE;
}

/* Output that cannot be written (full disk, closed pipe) is a failure. */
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
	struct option_list options = {};
	int end;

	option_add(&options, own_options);
	option_add(&options, command_common_options);
	end = option_read(&options, argc, argv, true);
	if (end)
		return end == OPTION_REFUSED ? COMMAND_USAGE : end;
	if (wants_help)
		return print_help(&options);
	if (!wants_version)
		return run(argc - optind, argv + optind);
	printf("ctxprop %s\n", CTXPROP_VERSION);
	return COMMAND_OK;
}

int main(int argc, char **argv)
{
	descriptors_open_standard();
	log_capture_libbpf();
	return finish(read_and_run(argc, argv));
}
