// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "runtime/known_files.h"
#include "runtime/uprobe_pins.h"

struct known_file {
	struct known_file *next;
	struct stat file;
	struct classified found;
};

const struct classified *known_files_find(const struct known_files *files, const struct stat *file)
{
	const struct known_file *known = files->first;

	while (known && !uprobe_pins_is_same(&known->file, file))
		known = known->next;
	return known ? &known->found : NULL;
}

int known_files_add(struct known_files *files, const struct stat *file,
		    const struct classified *found)
{
	struct known_file *known;

	if (known_files_find(files, file))
		return 0;
	known = malloc(sizeof(*known));
	if (!known)
		return -ENOMEM;
	*known = (struct known_file){.next = files->first, .file = *file, .found = *found};
	known->found.runtime.flags = 0; /* a process's own */
	files->first = known;
	return 0;
}

void known_files_forget(struct known_files *files,
			bool (*is_used)(const struct stat *file, void *data), void *data)
{
	struct known_file **at = &files->first;

	while (*at) {
		struct known_file *known = *at;

		if (is_used && is_used(&known->file, data)) {
			at = &known->next;
			continue;
		}
		*at = known->next;
		free(known);
	}
}
