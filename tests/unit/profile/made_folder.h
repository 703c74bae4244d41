/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of windows of a continuous profile, for tests: one for each program. */
#ifndef CTXPROP_TESTS_MADE_FOLDER_H
#define CTXPROP_TESTS_MADE_FOLDER_H

#include <stdio.h>

#include "profile/keep/windows.h"

/* Its path, from made_folder_begin() on. */
extern char made_folder[];

/* For cmocka: make it before all tests; remove all files behind each test; remove it at the end. */
int made_folder_begin(void **state);
int made_folder_empty(void **state);
int made_folder_end(void **state);

/* The path of a file in it, valid until the next call. */
const char *made_folder_file(const char *name);

/* That of a window. */
const char *made_folder_window(__s64 from_s, __s64 to_s);

/* A new file, open to be written. It is asserted that it could be made. */
FILE *made_folder_create(const char *file);

#endif
