/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the page, which are a part of the program (cmake/Embed.cmake). */
#ifndef CTXPROP_WEB_FILES_H
#define CTXPROP_WEB_FILES_H

#include <stddef.h>

struct web_file {
	const char *path; /* by which it is asked for */
	const char *type; /* Content-Type */
	const unsigned char *bytes;
	size_t size;
};

extern const struct web_file web_files[];
extern const size_t web_files_count;

#endif
