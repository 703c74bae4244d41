// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "base/netns.h"
#include "cmd/command.h"
#include "load/layout.h"

struct command_flags command_flags;

static bool wants_help;

static int set_colour(const struct option_row *row, const char *word)
{
	if (!colour_parse(word, &command_flags.colour))
		return COMMAND_OK;
	return command_misused("--%s: '%s': expected always, auto or never", row->name,
			       word + (*word == '='));
}

const struct option_row command_common_options[] = {
    {"json", 'j', NULL, "print JSON", .flag = &command_flags.json},
    {"oneline", 'o', NULL, "print one line for each thing", .flag = &command_flags.oneline},
    {"color", 'c', "[=WHEN]", "always, auto (on a terminal; the default) or never",
     .set = set_colour},
    {},
};

static const struct option_row help_option[] = {
    {"help", 'h', NULL, "show this help", .flag = &wants_help},
    {},
};

static int print_help(const struct command *command, const struct option_list *options)
{
	printf("Usage: ctxprop %s [options]%s\n%s.\n\n", command->name,
	       command->usage ? " ..." : "", command->summary);
	if (command->usage)
		printf("%s\n", command->usage);
	option_print(stdout, options);
	return COMMAND_OK;
}

static int run_here(const struct command *command, const struct command_flags *flags)
{
	char why[PINS_WHY_MAX];
	struct pins pins;
	__u64 cookie;
	int err = netns_cookie(&cookie);

	if (err)
		return command_refuse("this kernel does not tell network namespaces apart: %s",
				      strerror(-err));
	pins_name(cookie, &pins);
	if (pins_check(&pins, why))
		return command_refuse("the directories of pins are not ours alone: %s", why);
	colour_set(flags->colour);
	return command->run(&pins, flags);
}

/* Options that stood before the command: does it take them? */
static int check_flags(const struct command *command, const struct option_list *options)
{
	if (command_flags.statistics && !option_find(options, "statistics"))
		return command_misused("%s: there is no --statistics", command->name);
	return COMMAND_OK;
}

int command_run(const struct command *command, int argc, char **argv)
{
	struct option_list options = {};
	static char name[64];

	if (command->options)
		option_add(&options, command->options);
	option_add(&options, command_common_options);
	option_add(&options, help_option);
	/* The name in error messages of getopt_long(). */
	snprintf(name, sizeof(name), "ctxprop %s", command->name);
	argv[0] = name;
	if (check_flags(command, &options) || option_read(&options, argc, argv, false))
		return COMMAND_USAGE;
	if (wants_help)
		return print_help(command, &options);
	if (optind < argc && !command->usage)
		return command_misused("%s: unexpected argument '%s'", command->name, argv[optind]);
	command_flags.name = command->name;
	command_flags.words = (const char *const *)&argv[optind];
	command_flags.count = (size_t)(argc - optind);
	return run_here(command, &command_flags);
}

__attribute__((format(printf, 1, 0))) static void complain(const char *format, va_list args)
{
	fputs("ctxprop: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

int command_refuse(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	return COMMAND_REFUSED;
}

int command_misused(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	return COMMAND_USAGE;
}

int command_refuse_pins(const struct pins *pins, int err)
{
	if (err == -ENOENT)
		return command_refuse("nothing of ctxpropd is pinned for this network namespace "
				      "(%s); start ctxpropd, or name another one by --netns",
				      pins->layer_dir);
	if (err == -EACCES || err == -EPERM)
		return command_refuse("%s may only be used by root", pins->layer_dir);
	return command_refuse("%s: %s", pins->layer_dir, strerror(-err));
}

int command_open_map(const struct pins *pins, const char *map)
{
	char path[PINS_PATH_MAX], why[128];
	_cleanup_close_ int fd = bpf_obj_get(pins_map_path(path, pins->layer_dir, map));

	if (fd < 0) {
		command_refuse_pins(pins, fd);
		return fd;
	}
	if (layout_check(pins->layer_dir, why, sizeof(why))) {
		command_refuse("%s was made by another build: %s", pins->layer_dir, why);
		return -EPROTO;
	}
	return take_fd(&fd);
}
