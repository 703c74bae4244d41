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

static const struct option known[] = {
    {"json", no_argument, NULL, 'j'},
    {"statistics", no_argument, NULL, 's'},
    {"force", no_argument, NULL, 'f'},
};
static const char *const meanings[] = {
    "print JSON",
    "show the rows that are zero, too",
    "detach although connections will break",
};
#define KNOWN (sizeof(known) / sizeof(known[0]))

static void print_help(const struct command *command)
{
	printf("Usage: ctxprop %s [options]\n%s.\n\n", command->name, command->summary);
	for (size_t i = 0; i < KNOWN; i++)
		if (strchr(command->options, known[i].val))
			printf("  -%c, --%-12s %s\n", known[i].val, known[i].name, meanings[i]);
	printf("  -h, --%-12s show this help\n", "help");
}

/* The options that a command takes, in the form of getopt_long(). */
static void choose_options(const struct command *command, struct option *ret, char *ret_letters)
{
	size_t used = 0;

	for (size_t i = 0; i < KNOWN; i++)
		if (strchr(command->options, known[i].val))
			ret[used++] = known[i];
	ret[used++] = (struct option){"help", no_argument, NULL, 'h'};
	ret[used] = (struct option){};
	sprintf(ret_letters, "%sh", command->options);
}

static void set_flag(struct command_flags *flags, int letter)
{
	flags->json |= letter == 'j';
	flags->statistics |= letter == 's';
	flags->force |= letter == 'f';
}

static int run_here(const struct command *command, const struct command_flags *flags)
{
	struct pins pins;
	__u64 cookie;
	int err = netns_cookie(&cookie);

	if (err)
		return command_refuse("this kernel does not tell network namespaces apart: %s",
				      strerror(-err));
	pins_name(cookie, &pins);
	return command->run(&pins, flags);
}

int command_run(const struct command *command, int argc, char **argv)
{
	struct command_flags flags = {};
	struct option options[KNOWN + 2];
	char letters[KNOWN + 2];
	int letter;

	choose_options(command, options, letters);
	optind = 0; /* glibc: begin anew, the main options were read before */
	while ((letter = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		if (letter == 'h') {
			print_help(command);
			return COMMAND_OK;
		}
		if (letter == '?')
			return COMMAND_USAGE;
		set_flag(&flags, letter);
	}
	if (optind < argc) {
		fprintf(stderr, "ctxprop %s: unexpected argument '%s'\n", command->name,
			argv[optind]);
		return COMMAND_USAGE;
	}
	return run_here(command, &flags);
}

int command_refuse(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("ctxprop: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return COMMAND_REFUSED;
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
