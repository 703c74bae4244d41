// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "base/foreign.h"
#include "base/log.h"
#include "base/log_output.h"

#define PREFIX_MAX_BYTES 64
#define LINE_MAX_BYTES   1024
#define ID_MAX_BYTES     40
#define WHOLE_MAX_BYTES  (PREFIX_MAX_BYTES + LINE_MAX_BYTES + ID_MAX_BYTES)

static const struct {
	const char *name;
	int journal; /* syslog priority */
} levels[] = {
    [LOG_LEVEL_ERROR] = {"error", 3},
    [LOG_LEVEL_WARNING] = {"warning", 4},
    [LOG_LEVEL_INFO] = {"info", 6},
    [LOG_LEVEL_DEBUG] = {"debug", 7},
};

static enum log_level max_level = LOG_LEVEL_INFO;

int log_level_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (!strcmp(levels[i].name, name))
			return (int)i;
	return -EINVAL;
}

void log_set_level(enum log_level level)
{
	max_level = level;
}

/* Time and level of a line. A journal adds the time itself and reads the priority. */
static void prefix(char *buffer, size_t size, enum log_level level)
{
	struct timespec now;
	struct tm utc;
	size_t used;

	if (getenv("JOURNAL_STREAM")) {
		snprintf(buffer, size, "<%d>", levels[level].journal);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	used = strftime(buffer, size, "%Y-%m-%dT%H:%M:%S", gmtime_r(&now.tv_sec, &utc));
	snprintf(buffer + used, size - used, ".%03ldZ %s: ", now.tv_nsec / 1000000,
		 levels[level].name);
}

/*
 * One line with its prefix and its id, in a buffer of WHOLE_MAX_BYTES: a text that is cut off keeps
 * its id, and names that others chose cannot begin a new line. Returns its length.
 */
__attribute__((format(printf, 4, 0))) static size_t
make_line(char *buffer, enum log_level level, const char *id, const char *format, va_list args)
{
	char text[LINE_MAX_BYTES];
	size_t used;

	prefix(buffer, PREFIX_MAX_BYTES, level);
	used = strlen(buffer);
	vsnprintf(text, sizeof(text), format, args);
	used += foreign_copy_bytes(buffer + used, LINE_MAX_BYTES, text, strlen(text));
	return used +
	       (size_t)snprintf(buffer + used, ID_MAX_BYTES, " [%.*s]\n", ID_MAX_BYTES - 5, id);
}

__attribute__((format(printf, 4, 5))) static size_t
put_line(char *buffer, enum log_level level, const char *id, const char *format, ...)
{
	va_list args;
	size_t used;

	va_start(args, format);
	used = make_line(buffer, level, id, format, args);
	va_end(args);
	return used;
}

/* Lines dropped since the last one that was written. */
static unsigned long lost;

/* Reports dropped lines first, as soon as there is room again. False: there still is none. */
static bool tell_lost(void)
{
	char line[WHOLE_MAX_BYTES];
	size_t size;

	if (!lost)
		return true;
	size = put_line(line, LOG_LEVEL_WARNING, "log-lines-lost",
			"%lu lines of this log are lost: nobody read them", lost);
	if (!log_output(line, size))
		return false;
	lost = 0;
	return true;
}

static void write_text(const char *text, size_t size)
{
	if (!tell_lost() || !log_output(text, size))
		lost++;
}

void log_line(enum log_level level, const char *id, const char *format, ...)
{
	char line[WHOLE_MAX_BYTES];
	va_list args;
	size_t size;

	if (level > max_level)
		return;
	va_start(args, format);
	size = make_line(line, level, id, format, args);
	va_end(args);
	write_text(line, size);
}

/* libbpf's text is passed on as it is: a verifier log has many lines and is long. */
__attribute__((format(printf, 2, 0))) static int libbpf_line(enum libbpf_print_level level,
							     const char *format, va_list args)
{
	_cleanup_free_ char *text = NULL;
	int size;

	if (max_level < LOG_LEVEL_DEBUG || level == LIBBPF_DEBUG)
		return 0;
	size = vasprintf(&text, format, args);
	for (int at = 0; at < size; at += LOG_OUTPUT_MAX)
		write_text(text + at,
			   (size_t)(size - at < LOG_OUTPUT_MAX ? size - at : LOG_OUTPUT_MAX));
	return size;
}

void log_capture_libbpf(void)
{
	libbpf_set_print(libbpf_line);
}
