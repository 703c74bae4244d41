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
 * Write one line, if there is room for it: who does not read stderr makes nobody wait. How many
 * lines were lost is said with the next one. The text ends without a newline.
 */
__attribute__((format(printf, 2, 3))) void log_line(enum log_level level, const char *format, ...);

#define log_error(...)   log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)    log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)   log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
