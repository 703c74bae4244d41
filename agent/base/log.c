// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <bpf/libbpf.h>

#include "base/cleanup.h"
#include "base/foreign.h"
#include "base/journal.h"
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

	if (journal_has_stderr()) {
		snprintf(buffer, size, "<%d>", levels[level].journal);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	used = strftime(buffer, size, "%Y-%m-%dT%H:%M:%S", gmtime_r(&now.tv_sec, &utc));
	snprintf(buffer + used, size - used, ".%03ldZ %s: ", now.tv_nsec / 1000000,
		 levels[level].name);
}

/* A line of the log, of which a journal gets what stands between its prefix and its end. */
struct line {
	enum log_level level;
	const char *id;
	size_t prefix, size;
	char bytes[WHOLE_MAX_BYTES];
};

/*
 * Fill in a line, with its prefix and its id: a text that is cut off keeps its id, and names that
 * others chose cannot begin a new line.
 */
__attribute__((format(printf, 4, 0))) static void
make_line(struct line *line, enum log_level level, const char *id, const char *format, va_list args)
{
	char text[LINE_MAX_BYTES];

	line->level = level;
	line->id = id;
	prefix(line->bytes, PREFIX_MAX_BYTES, level);
	line->prefix = line->size = strlen(line->bytes);
	vsnprintf(text, sizeof(text), format, args);
	line->size +=
	    foreign_copy_bytes(line->bytes + line->size, LINE_MAX_BYTES, text, strlen(text));
	line->size += (size_t)snprintf(line->bytes + line->size, ID_MAX_BYTES, " [%.*s]\n",
				       ID_MAX_BYTES - 5, id);
}

/* With its fields, if a journal takes them. False: there is no room for it. */
static bool put_line(const struct line *line)
{
	int err = -ENOTCONN;

	if (journal_has_stderr())
		err = journal_send(levels[line->level].journal, line->id,
				   line->bytes + line->prefix, line->size - line->prefix - 1);
	if (err && err != -EAGAIN)
		return log_output(line->bytes, line->size);
	return !err;
}

__attribute__((format(printf, 3, 4))) static bool write_line(enum log_level level, const char *id,
							     const char *format, ...)
{
	struct line line;
	va_list args;

	va_start(args, format);
	make_line(&line, level, id, format, args);
	va_end(args);
	return put_line(&line);
}

/* Lines dropped since the last one that was written. */
static unsigned long lost;

/* Reports dropped lines first, as soon as there is room again. False: there still is none. */
static bool tell_lost(void)
{
	if (!lost)
		return true;
	if (!write_line(LOG_LEVEL_WARNING, "log-lines-lost",
			"%lu lines of this log are lost: nobody read them", lost))
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
	struct line line;
	va_list args;

	if (level > max_level)
		return;
	va_start(args, format);
	make_line(&line, level, id, format, args);
	va_end(args);
	if (!tell_lost() || !put_line(&line))
		lost++;
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
