/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's log: one line per event on stderr. */
#ifndef CTXPROP_LOG_H
#define CTXPROP_LOG_H

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* The level called `name`, or -EINVAL. */
int log_level_by_name(const char *name);

/* Show lines up to `level`. */
void log_set_level(enum log_level level);

/* Take over what libbpf prints: it is all shown at debug level. */
void log_capture_libbpf(void);

/*
 * Write one line, unless nobody has read stderr for so long that there is no room for it; the next
 * line then says how many were lost. `id` names the kind of message in lower case with hyphens, and
 * stands in brackets at the end of the line: it stays when the text is reworded, so scripts and
 * tests match it. The text ends without a newline.
 */
__attribute__((format(printf, 3, 4))) void log_line(enum log_level level, const char *id,
						    const char *format, ...);

#define log_error(...)   log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)    log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)   log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
