/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cache of what was found in files of programs, if it is the same for every process of the file
 * (driver->relocate).
 */
#ifndef CTXPROP_KNOWN_FILES_H
#define CTXPROP_KNOWN_FILES_H

#include <sys/stat.h>

#include "runtime/driver.h"

struct known_file;

struct known_files {
	struct known_file *first;
};

/* What was found in this file; NULL: nothing. Belongs to `files`. */
const struct classified *known_files_find(const struct known_files *files, const struct stat *file);

/* Remember a copy, with addresses as in the file, unless there is one. 0 or -ENOMEM. */
int known_files_add(struct known_files *files, const struct stat *file,
		    const struct classified *found);

/* Forget files that `is_used` says no to; NULL: all. */
void known_files_forget(struct known_files *files,
			bool (*is_used)(const struct stat *file, void *data), void *data);

#endif
