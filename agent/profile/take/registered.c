// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "profile/take/registered.h"

#define LINE_MAX_BYTES 512
#define FILE_MODE      0644
#define FIELDS         4 /* program, symbol, type, label */

static bool is_word(const char *word)
{
	for (const char *at = word; *at; at++)
		if (iscntrl((unsigned char)*at) || *at == ' ')
			return false;
	return *word;
}

/* Tabs and ends of lines are separators in the file. */
static bool is_path(const char *path)
{
	for (const char *at = path; *at; at++)
		if (iscntrl((unsigned char)*at))
			return false;
	return *path == '/';
}

const char *registration_wrong(const struct registration *registration)
{
	if (!is_path(registration->program))
		return "the program has to be an absolute path, as /proc/PID/exe names it";
	if (!is_word(registration->symbol))
		return "the symbol has to be a name without spaces";
	return is_word(registration->label) ? NULL : "the label has to be a name without spaces";
}

static bool fits(char *const field[FIELDS])
{
	return strlen(field[0]) < REGISTERED_PROGRAM_MAX &&
	       strlen(field[1]) < REGISTERED_SYMBOL_MAX && strlen(field[3]) < PROFILE_LABEL_KEY &&
	       (!strcmp(field[2], "u64") || !strcmp(field[2], "string"));
}

/* PROGRAM, SYMBOL, TYPE, LABEL, with tabs between. 0 or -EINVAL. */
static int parse(char *line, struct registration *ret)
{
	char *field[FIELDS], *rest = line;

	line[strcspn(line, "\n")] = '\0';
	for (size_t i = 0; i < FIELDS; i++) {
		field[i] = strsep(&rest, "\t");
		if (!field[i])
			return -EINVAL;
	}
	if (rest || !fits(field))
		return -EINVAL;
	*ret = (struct registration){.is_text = !strcmp(field[2], "string")};
	text_copy(ret->program, sizeof(ret->program), field[0]);
	text_copy(ret->symbol, sizeof(ret->symbol), field[1]);
	text_copy(ret->label, sizeof(ret->label), field[3]);
	return registration_wrong(ret) ? -EINVAL : 0;
}

static int read_lines(FILE *file, struct registered *registered)
{
	struct registration registration;
	char line[LINE_MAX_BYTES];
	int err = 0;

	while (!err && fgets(line, sizeof(line), file)) {
		err = parse(line, &registration);
		if (!err)
			err = registered_add(registered, &registration);
	}
	return ferror(file) ? -EIO : err;
}

int registered_read(const char *path, struct registered *ret_registered)
{
	FILE *file = fopen(path, "re");
	int err;

	*ret_registered = (struct registered){};
	if (!file)
		return errno == ENOENT ? 0 : -errno;
	err = read_lines(file, ret_registered);
	fclose(file);
	return err;
}

static void write_lines(FILE *file, const struct registered *registered)
{
	for (size_t i = 0; i < registered->count; i++) {
		const struct registration *entry = &registered->entry[i];

		fprintf(file, "%s\t%s\t%s\t%s\n", entry->program, entry->symbol,
			entry->is_text ? "string" : "u64", entry->label);
	}
}

static int fill(int fd, const struct registered *registered)
{
	FILE *file = fdopen(fd, "w");
	int err = 0;

	if (!file) {
		err = -errno;
		close(fd);
		return err;
	}
	write_lines(file, registered);
	if (ferror(file) || fflush(file) || fchmod(fd, FILE_MODE))
		err = errno ? -errno : -EIO;
	return fclose(file) && !err ? -errno : err;
}

int registered_write(const char *path, const struct registered *registered)
{
	char beside[4096];
	int fd, err;

	if (snprintf(beside, sizeof(beside), "%s.XXXXXX", path) >= (int)sizeof(beside))
		return -ENAMETOOLONG;
	fd = mkostemp(beside, 0);
	if (fd < 0)
		return -errno;
	err = fill(fd, registered);
	if (!err && rename(beside, path))
		err = -errno;
	if (err)
		unlink(beside);
	return err;
}

static bool is_of(const struct registration *entry, const char *program, const char *label)
{
	return !strcmp(entry->program, program) && (!label || !strcmp(entry->label, label));
}

int registered_add(struct registered *registered, const struct registration *registration)
{
	size_t at = 0;

	while (at < registered->count &&
	       !is_of(&registered->entry[at], registration->program, registration->label))
		at++;
	if (at == REGISTERED_MAX)
		return -ENOSPC;
	registered->entry[at] = *registration;
	if (at == registered->count)
		registered->count++;
	return 0;
}

size_t registered_remove(struct registered *registered, const char *program, const char *label)
{
	const size_t before = registered->count;

	registered->count = 0;
	for (size_t i = 0; i < before; i++)
		if (!is_of(&registered->entry[i], program, label))
			registered->entry[registered->count++] = registered->entry[i];
	return before - registered->count;
}
