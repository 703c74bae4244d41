// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "otlp/headers.h"

/* Characters of the name of a field (RFC 9110, 5.6.2). */
static bool is_token(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("!#$%&'*+-.^_`|~", text[i]))
			return false;
	return length;
}

static bool has_control(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text) && *text != '\t')
			return true;
	return false;
}

/* Cut off what ends a line, and blanks before it. */
static void trim(char *line)
{
	size_t length = strlen(line);

	while (length && isspace((unsigned char)line[length - 1]))
		length--;
	line[length] = '\0';
}

static bool is_field(const char *line)
{
	size_t name = strcspn(line, ":");

	return line[name] == ':' && is_token(line, name) && line[name + 1] && !has_control(line);
}

static int append(struct curl_slist **list, const char *line)
{
	struct curl_slist *longer = curl_slist_append(*list, line);

	if (!longer)
		return -ENOMEM;
	*list = longer;
	return 0;
}

/* Values are secrets: messages have only the number of a wrong line. */
static int read_lines(FILE *file, struct curl_slist **list, char *ret_why, size_t size)
{
	char line[HEADERS_LINE_MAX];
	unsigned int number = 0;
	int err = 0;

	while (!err && fgets(line, sizeof(line), file)) {
		bool whole = strchr(line, '\n') || feof(file);

		number++;
		trim(line);
		if (whole && (!*line || *line == '#'))
			continue;
		err = whole && is_field(line) ? append(list, line) : -EBADMSG;
	}
	if (err)
		snprintf(ret_why, size, "line %u: %s", number,
			 err == -EBADMSG ? "expected Name: value" : strerror(-err));
	return err;
}

/* Without blocking on a FIFO. */
static FILE *open_file(const char *path, char *ret_why, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	int err = 0;

	if (fd < 0 || fstat(fd, &status))
		err = errno;
	else if (!S_ISREG(status.st_mode))
		err = EINVAL;
	else if (status.st_mode & S_IRWXO)
		err = EPERM;
	if (!err)
		return fdopen(fd, "r");
	cleanup_close(&fd);
	snprintf(ret_why, size, "%s",
		 err == EPERM ? "others may read or write it: run chmod o= on it" : strerror(err));
	errno = err;
	return NULL;
}

int headers_read(const char *path, struct curl_slist **list, char *ret_why, size_t size)
{
	FILE *file = open_file(path, ret_why, size);
	int err;

	if (!file)
		return -errno;
	err = read_lines(file, list, ret_why, size);
	fclose(file);
	return err;
}
