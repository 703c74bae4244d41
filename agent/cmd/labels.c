// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/foreign.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "profile/take/registered.h"
#include "trace/json.h"

#define FOLDER_MODE 0700 /* as the store's */

const char command_labels_usage[] =
    "  labels [list]            all that are registered\n"
    "  labels register --program PATH --symbol VARIABLE --type u64|string --as LABEL\n"
    "                           make a thread-local variable of a program a label of its samples\n"
    "  labels unregister --program PATH [--as LABEL]\n";

/* What the options say. */
static struct {
	const char *program, *symbol, *type, *label, *registry;
} wanted = {.registry = REGISTERED_PATH};

const struct option_row command_labels_options[] = {
    {"program", 0, "PATH", "as /proc/PID/exe names it", .text = &wanted.program},
    {"symbol", 0, "VARIABLE", "in its symbol table, or in that of a library that it loads",
     .text = &wanted.symbol},
    {"type", 0, "u64|string",
     "u64: unsigned, up to 8 bytes, 0 means no label; string: a pointer to a text that ends with "
     "NUL, or an array of characters",
     .text = &wanted.type},
    {"as", 0, "LABEL", "the name of the label, up to 15 bytes", .text = &wanted.label},
    {"registry", 0, "FILE", "where they are kept (default " REGISTERED_PATH ")",
     .text = &wanted.registry},
    {},
};

static int refuse_registry(int err)
{
	return command_refuse("labels: %s: %s", wanted.registry,
			      err == -EINVAL ? "it has lines that are not registrations"
					     : strerror(-err));
}

static const char *type_of(const struct registration *entry)
{
	return entry->is_text ? "string" : "u64";
}

static json_t *entry_json(const struct registration *entry)
{
	json_t *object = json_pack("{ss}", "type", type_of(entry));

	json_set_text(object, "program", entry->program);
	json_set_text(object, "symbol", entry->symbol);
	json_set_text(object, "label", entry->label);
	return object;
}

static int list_json(const struct registered *registered)
{
	json_t *array = json_array();

	for (size_t i = 0; i < registered->count; i++)
		json_array_append_new(array, entry_json(&registered->entry[i]));
	return json_print(array);
}

static int list(const struct command_flags *flags)
{
	struct registered registered;
	int err = registered_read(wanted.registry, &registered);

	if (err)
		return refuse_registry(err);
	if (flags->json)
		return list_json(&registered);
	for (size_t i = 0; i < registered.count; i++) {
		const struct registration *entry = &registered.entry[i];

		foreign_print(entry->program);
		printf(" %s %s as %s\n", entry->symbol, type_of(entry), entry->label);
	}
	return COMMAND_OK;
}

/* COMMAND_OK, or another exit code after a complaint. */
static int fill(struct registration *entry)
{
	const char *wrong;

	*entry = (struct registration){};
	if (!wanted.program || !wanted.symbol || !wanted.type || !wanted.label)
		return command_misused("labels register: expected --program, --symbol, --type and "
				       "--as");
	if (strcmp(wanted.type, "u64") != 0 && strcmp(wanted.type, "string") != 0)
		return command_misused("labels: --type %s: expected u64 or string", wanted.type);
	if (strlen(wanted.program) >= sizeof(entry->program) ||
	    strlen(wanted.symbol) >= sizeof(entry->symbol) ||
	    strlen(wanted.label) >= sizeof(entry->label))
		return command_misused("labels: too long: at most %zu bytes for the program, %zu "
				       "for the symbol, %zu for the label",
				       sizeof(entry->program) - 1, sizeof(entry->symbol) - 1,
				       sizeof(entry->label) - 1);
	entry->is_text = !strcmp(wanted.type, "string");
	text_copy(entry->program, sizeof(entry->program), wanted.program);
	text_copy(entry->symbol, sizeof(entry->symbol), wanted.symbol);
	text_copy(entry->label, sizeof(entry->label), wanted.label);
	wrong = registration_wrong(entry);
	return wrong ? command_misused("labels: %s", wrong) : COMMAND_OK;
}

static int add(const struct command_flags *flags, struct registered *registered)
{
	struct registration entry;
	int exit_code = fill(&entry), err;

	if (exit_code)
		return exit_code;
	if (registered_add(registered, &entry))
		return command_refuse("labels: there can be no more than %d", REGISTERED_MAX);
	err = registered_write(wanted.registry, registered);
	if (err)
		return refuse_registry(err);
	return json_answer(flags, entry_json(&entry),
			   "labels: %s of %s is %s from the next profile on", entry.symbol,
			   entry.program, entry.label);
}

static int take_out(const struct command_flags *flags, struct registered *registered)
{
	size_t count;
	int err;

	if (!wanted.program)
		return command_misused("labels unregister: expected --program");
	count = registered_remove(registered, wanted.program, wanted.label);
	if (!count)
		return command_refuse("labels: nothing of this kind is registered for %s",
				      wanted.program);
	err = registered_write(wanted.registry, registered);
	if (err)
		return refuse_registry(err);
	return json_answer(flags, json_pack("{sI}", "unregistered", (json_int_t)count),
			   "labels: %zu unregistered", count);
}

/* One at a time: the folder of the file is locked meanwhile. */
static int lock_folder(void)
{
	char folder[PATH_MAX];
	char *slash;
	int fd;

	if (strlen(wanted.registry) >= sizeof(folder))
		return -ENAMETOOLONG;
	text_copy(folder, sizeof(folder), wanted.registry);
	slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
	if (slash && mkdir(folder, FOLDER_MODE) && errno != EEXIST)
		return -errno;
	fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!flock(fd, LOCK_EX))
		return fd;
	close(fd);
	return -EAGAIN;
}

static int change(const struct command_flags *flags,
		  int (*make)(const struct command_flags *flags, struct registered *registered))
{
	_cleanup_close_ int lock = lock_folder();
	struct registered registered;
	int err = lock < 0 ? lock : registered_read(wanted.registry, &registered);

	return err ? refuse_registry(err) : make(flags, &registered);
}

int command_labels(const struct pins *pins, const struct command_flags *flags)
{
	const char *verb = flags->count ? flags->words[0] : "list";

	(void)pins;
	if (flags->count > 1)
		return command_misused("labels: unexpected argument '%s'", flags->words[1]);
	if (!strcmp(verb, "list"))
		return list(flags);
	if (!strcmp(verb, "register"))
		return change(flags, add);
	if (!strcmp(verb, "unregister"))
		return change(flags, take_out);
	return command_misused("labels: '%s': expected list, register or unregister", verb);
}
