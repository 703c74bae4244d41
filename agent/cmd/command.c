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

static const struct option common[] = {COMMAND_COMMON_OPTIONS};
#define COMMON (sizeof(common) / sizeof(common[0]))

static const struct option known[] = {
    {"statistics", no_argument, NULL, 's'}, {"force", no_argument, NULL, 'f'},
    {"processes", no_argument, NULL, 'p'},  {"extended", no_argument, NULL, 'e'},
    {"all", no_argument, NULL, 'a'},        {"stacks", no_argument, NULL, 'k'},
    {"explain", no_argument, NULL, 'x'},
};
static const char *const meanings[] = {
    "show more: of stats the rows of zero, of rules their hits, of logs what became of lines",
    "detach although connections will break",
    "show who reads and writes: process, thread, descriptor",
    "show state, age, bytes, reuse, namespace and cgroup of the socket",
    "of all network namespaces in which the same ctxpropd works",
    "show the stacks of threads that send within the next second",
    "say why the last call belongs to its trace, or to a new one",
};
#define KNOWN (sizeof(known) / sizeof(known[0]))

/* Its own options come before the common ones. */
static bool is_own(const struct command *command, int letter)
{
	for (size_t i = 0; command->own && i < command->own->count; i++)
		if (command->own->list[i].val == letter)
			return true;
	return false;
}

static void print_help(const struct command *command)
{
	printf("Usage: ctxprop %s [options]%s\n%s.\n\n", command->name,
	       command->usage ? " ..." : "", command->summary);
	if (command->usage)
		printf("%s\n", command->usage);
	for (size_t i = 0; i < KNOWN; i++)
		if (strchr(command->options, known[i].val))
			printf("  -%c, --%-12s %s\n", known[i].val, known[i].name, meanings[i]);
	printf("  -j, --%-12s print JSON\n", "json");
	if (!is_own(command, 'o'))
		printf("  -o, --%-12s print one line for each thing\n", "oneline");
	printf("  -c, --%-12s always, auto (on a terminal) or never\n", "color[=WHEN]");
	printf("  -h, --%-12s show this help\n", "help");
}

/* The options that a command takes, in the form of getopt_long(). */
static void choose_options(const struct command *command, struct option *ret, char *ret_letters)
{
	size_t used = 0;

	for (size_t i = 0; i < COMMON; i++)
		if (!is_own(command, common[i].val))
			ret[used++] = common[i];
	for (size_t i = 0; i < KNOWN; i++)
		if (strchr(command->options, known[i].val))
			ret[used++] = known[i];
	for (size_t i = 0; command->own && i < command->own->count; i++)
		ret[used++] = command->own->list[i];
	ret[used++] = (struct option){"help", no_argument, NULL, 'h'};
	ret[used] = (struct option){};
	sprintf(ret_letters, "%s%sh" COMMAND_COMMON_LETTERS, command->options,
		command->own ? command->own->letters : "");
}

int command_common(struct command_flags *flags, int letter, const char *word)
{
	flags->json |= letter == 'j';
	flags->oneline |= letter == 'o';
	if (letter == 'c' && colour_parse(word, &flags->colour))
		return command_misused("--color: '%s': expected always, auto or never",
				       word + (*word == '='));
	return COMMAND_OK;
}

static void set_flag(struct command_flags *flags, int letter)
{
	flags->statistics |= letter == 's';
	flags->force |= letter == 'f';
	flags->processes |= letter == 'p';
	flags->extended |= letter == 'e';
	flags->all |= letter == 'a';
	flags->stacks |= letter == 'k';
	flags->explain |= letter == 'x';
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
static int check_flags(const struct command *command, const struct command_flags *flags)
{
	if (flags->statistics && !strchr(command->options, 's'))
		return command_misused("%s: there is no --statistics", command->name);
	return COMMAND_OK;
}

int command_run(const struct command *command, int argc, char **argv, struct command_flags *flags)
{
	struct option options[COMMON + KNOWN + COMMAND_OWN_MAX + 2];
	char letters[sizeof(COMMAND_COMMON_LETTERS) + KNOWN + 2UL * COMMAND_OWN_MAX], name[64];
	int letter;

	if (check_flags(command, flags))
		return COMMAND_USAGE;
	choose_options(command, options, letters);
	/* What getopt_long() complains under. */
	snprintf(name, sizeof(name), "ctxprop %s", command->name);
	argv[0] = name;
	optind = 0; /* glibc: begin anew, the main options were read before */
	while ((letter = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		if (letter == 'h') {
			print_help(command);
			return COMMAND_OK;
		}
		if (letter == '?')
			return COMMAND_USAGE;
		if (is_own(command, letter)) {
			if (command->own->set(letter, optarg))
				return COMMAND_USAGE;
			continue;
		}
		if (command_common(flags, letter, optarg))
			return COMMAND_USAGE;
		set_flag(flags, letter);
	}
	if (optind < argc && !command->usage)
		return command_misused("%s: unexpected argument '%s'", command->name, argv[optind]);
	flags->name = command->name;
	flags->words = (const char *const *)&argv[optind];
	flags->count = (size_t)(argc - optind);
	return run_here(command, flags);
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
