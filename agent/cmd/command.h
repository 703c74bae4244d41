/* SPDX-License-Identifier: Apache-2.0 */
/* What every subcommand of ctxprop gets and gives. */
#ifndef CTXPROP_COMMAND_H
#define CTXPROP_COMMAND_H

#include <stdbool.h>

#include "load/pins.h"

/* As iproute2: done, refused, wrong usage. */
enum command_exit { COMMAND_OK = 0, COMMAND_REFUSED = 1, COMMAND_USAGE = 2 };

/* The options that subcommands know; each names the ones it takes. */
struct command_flags {
	bool json, statistics, force;
};

struct command {
	const char *name;
	const char *options; /* letters of those it takes: "js", "f" */
	const char *summary; /* one line */
	int (*run)(const struct pins *pins, const struct command_flags *flags);
};

int command_stats(const struct pins *pins, const struct command_flags *flags);
int command_flows(const struct pins *pins, const struct command_flags *flags);
int command_detach(const struct pins *pins, const struct command_flags *flags);
int command_pause(const struct pins *pins, const struct command_flags *flags);
int command_resume(const struct pins *pins, const struct command_flags *flags);

/* Read a subcommand's options and run it. Returns an exit code. */
int command_run(const struct command *command, int argc, char **argv);

/* Complain on stderr; returns COMMAND_REFUSED. */
__attribute__((format(printf, 1, 2))) int command_refuse(const char *format, ...);

/* Say why something below the pins cannot be had; returns COMMAND_REFUSED. */
int command_refuse_pins(const struct pins *pins, int err);

/*
 * Open a pinned map whose layout this build knows. Returns the descriptor, or -errno after the
 * reason was printed.
 */
int command_open_map(const struct pins *pins, const char *map);

#endif
