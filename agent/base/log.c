// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <bpf/libbpf.h>

#include "base/log.h"

#define LINE_MAX_BYTES 1024

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

/* What stands before the text: a journal stamps the time itself and reads the priority. */
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

static void write_line(enum log_level level, const char *format, va_list args)
{
	char before[64], line[LINE_MAX_BYTES];

	prefix(before, sizeof(before), level);
	vsnprintf(line, sizeof(line), format, args);
	fprintf(stderr, "%s%s\n", before, line);
}

void log_line(enum log_level level, const char *format, ...)
{
	va_list args;

	if (level > max_level)
		return;
	va_start(args, format);
	write_line(level, format, args);
	va_end(args);
}

/* libbpf's text is passed on as it is: a verifier log has many lines and is long. */
__attribute__((format(printf, 2, 0))) static int libbpf_line(enum libbpf_print_level level,
							     const char *format, va_list args)
{
	if (max_level < LOG_LEVEL_DEBUG || level == LIBBPF_DEBUG)
		return 0;
	return vfprintf(stderr, format, args);
}

void log_capture_libbpf(void)
{
	libbpf_set_print(libbpf_line);
}
