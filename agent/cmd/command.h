/* SPDX-License-Identifier: Apache-2.0 */
/* What every subcommand of ctxprop gets and gives. */
#ifndef CTXPROP_COMMAND_H
#define CTXPROP_COMMAND_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "cmd/colour.h"
#include "pins/pins.h"

/* As iproute2: done, refused, wrong usage. */
enum command_exit { COMMAND_OK = 0, COMMAND_REFUSED = 1, COMMAND_USAGE = 2 };

/* The options that subcommands know, of which each names the ones it takes, and its words. */
struct command_flags {
	bool json, oneline, statistics, force, processes, extended, all, stacks, explain;
	enum colour_mode colour;
	const char *name;         /* of the command */
	const char *const *words; /* behind the name and the options */
	size_t count;
};

/* Options of one command alone. */
struct command_options {
	const struct option
	    *list; /* `val`: a letter; a common option of that letter is not there */
	size_t count;
	const char *letters; /* those that have a short form, as for getopt(3) */
	int (*set)(int letter, const char *word); /* COMMAND_OK, or COMMAND_USAGE */
};
#define COMMAND_OWN_MAX 32

struct command {
	const char *name;
	const char *options; /* letters of those it takes beside the common ones: "s", "f" */
	const char *summary; /* one line */
	int (*run)(const struct pins *pins, const struct command_flags *flags);
	const char *usage; /* what its words may be, line by line; NULL: it takes none */
	const struct command_options *own; /* described in `usage`; NULL: it has none */
};

int command_stats(const struct pins *pins, const struct command_flags *flags);
int command_flows(const struct pins *pins, const struct command_flags *flags);
int command_attach(const struct pins *pins, const struct command_flags *flags);
int command_detach(const struct pins *pins, const struct command_flags *flags);
int command_drain(const struct pins *pins, const struct command_flags *flags);
int command_pause(const struct pins *pins, const struct command_flags *flags);
int command_resume(const struct pins *pins, const struct command_flags *flags);
int command_policy(const struct pins *pins, const struct command_flags *flags);
int command_set(const struct pins *pins, const struct command_flags *flags);
int command_doctor(const struct pins *pins, const struct command_flags *flags);
int command_monitor(const struct pins *pins, const struct command_flags *flags);
int command_trace(const struct pins *pins, const struct command_flags *flags);
int command_why(const struct pins *pins, const struct command_flags *flags);
int command_who(const struct pins *pins, const struct command_flags *flags);
int command_top(const struct pins *pins, const struct command_flags *flags);
int command_map(const struct pins *pins, const struct command_flags *flags);
int command_logs(const struct pins *pins, const struct command_flags *flags);
int command_sql(const struct pins *pins, const struct command_flags *flags);
int command_profile(const struct pins *pins, const struct command_flags *flags);
int command_labels(const struct pins *pins, const struct command_flags *flags);

/* What may stand behind these. */
extern const char command_policy_usage[], command_set_usage[], command_attach_usage[],
    command_detach_usage[], command_trace_usage[], command_why_usage[], command_sql_usage[],
    command_top_usage[], command_map_usage[], command_who_usage[], command_logs_usage[],
    command_profile_usage[], command_labels_usage[];
extern const struct command_options command_trace_options, command_top_options, command_map_options,
    command_logs_options, command_sql_options, command_profile_options, command_labels_options,
    command_who_options;

/* The options that each of them takes, for getopt_long(): JSON, one line, colour. */
#define COMMAND_COMMON_LETTERS "joc::"
/* clang-format off */
#define COMMAND_COMMON_OPTIONS                                                                     \
	{"json", no_argument, NULL, 'j'}, {"oneline", no_argument, NULL, 'o'},                     \
	{"color", optional_argument, NULL, 'c'}
/* clang-format on */

/* One of these; `word` is its argument. COMMAND_OK, or COMMAND_USAGE after a complaint. */
int command_common(struct command_flags *flags, int letter, const char *word);

/*
 * Read a subcommand's options, on top of those in `flags`, and run it. Returns an exit code.
 */
int command_run(const struct command *command, int argc, char **argv, struct command_flags *flags);

/*
 * Remove everything of ours from the current network namespace, the lock of whose pins the caller
 * holds. Complains itself; returns an exit code.
 */
int command_remove_all(const struct pins *pins);

/* Complain on stderr; returns COMMAND_REFUSED. */
__attribute__((format(printf, 1, 2))) int command_refuse(const char *format, ...);

/* Complain about words that are wrong; returns COMMAND_USAGE. */
__attribute__((format(printf, 1, 2))) int command_misused(const char *format, ...);

/* Say why something below the pins cannot be had; returns COMMAND_REFUSED. */
int command_refuse_pins(const struct pins *pins, int err);

/*
 * Open a pinned map whose layout this build knows. Returns the descriptor, or -errno after the
 * reason was printed.
 */
int command_open_map(const struct pins *pins, const char *map);

#endif
