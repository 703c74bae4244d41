/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of subcommands. */
#ifndef CTXPROP_COMMAND_H
#define CTXPROP_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/option.h"
#include "cmd/colour.h"
#include "pins/pins.h"

/* Exit codes, as those of iproute2. */
enum command_exit { COMMAND_OK = 0, COMMAND_REFUSED = 1, COMMAND_USAGE = 2 };

/* What options before and behind a command say, and its words. */
struct command_flags {
	bool json, oneline, statistics, force, processes, extended, all, stacks, explain;
	enum colour_mode colour;
	const char *name;         /* of the command */
	const char *const *words; /* behind the name and the options */
	size_t count;
};

struct command {
	const char *name;
	const char *summary; /* one line */
	int (*run)(const struct pins *pins, const struct command_flags *flags);
	const char *usage; /* what its words may be, line by line; NULL: it takes none */
	const struct option_row *options; /* NULL: only the common ones */
};

/* What was said so far: rows of options change it. */
extern struct command_flags command_flags;

/* The options that all commands take, and that may stand before them: JSON, one line, colour. */
extern const struct option_row command_common_options[];

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

/* Their `usage`. */
extern const char command_policy_usage[], command_set_usage[], command_attach_usage[],
    command_detach_usage[], command_trace_usage[], command_why_usage[], command_sql_usage[],
    command_top_usage[], command_map_usage[], command_who_usage[], command_logs_usage[],
    command_profile_usage[], command_labels_usage[];
extern const struct option_row command_stats_options[], command_flows_options[],
    command_policy_options[], command_detach_options[], command_trace_options[],
    command_top_options[], command_map_options[], command_logs_options[], command_sql_options[],
    command_profile_options[], command_labels_options[], command_who_options[],
    command_doctor_options[];

/* Read a command's options and run it. Returns an exit code. */
int command_run(const struct command *command, int argc, char **argv);

/*
 * Remove everything of ours from the current network namespace, the lock of whose pins the caller
 * holds. Complains itself; returns an exit code.
 */
int command_remove_all(const struct pins *pins);

/* Complain on stderr; returns COMMAND_REFUSED. */
__attribute__((format(printf, 1, 2))) int command_refuse(const char *format, ...);

/* Complain about wrong usage; returns COMMAND_USAGE. */
__attribute__((format(printf, 1, 2))) int command_misused(const char *format, ...);

/* Complain that something below the pins cannot be opened; returns COMMAND_REFUSED. */
int command_refuse_pins(const struct pins *pins, int err);

/*
 * Open a pinned map whose layout this build knows. Returns the descriptor, or -errno after the
 * reason was printed.
 */
int command_open_map(const struct pins *pins, const char *map);

#endif
