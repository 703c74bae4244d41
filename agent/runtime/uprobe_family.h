/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uprobe programs that are needed together: all of an object that are called probe_FAMILY_... They
 * are pinned, and the next daemon of the same build takes them: to verify them takes long.
 */
#ifndef CTXPROP_UPROBE_FAMILY_H
#define CTXPROP_UPROBE_FAMILY_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/uprobe_pins.h"

#define UPROBE_FAMILY_MAX 24
#define UPROBE_NAME_MAX   64

/* The object of a skeleton, as its NAME__elf_bytes() has it. */
struct uprobe_object {
	const char *name;
	const void *bytes;
	size_t size;
};

struct uprobe_family {
	size_t count;
	struct {
		char name[UPROBE_NAME_MAX];
		int fd;
	} program[UPROBE_FAMILY_MAX];
};

/* Is `other` a program of the same family? */
bool uprobe_family_is(const char *program, const char *other);

/*
 * Load the family of this program, or open what an earlier daemon has pinned of it. Pinning is for
 * later: it may fail. 0, and `ret_family` is to be closed; -ENOENT: the object has no such program;
 * or -errno.
 */
int uprobe_family_load(const struct uprobe_pins *pins, const struct uprobe_object *object,
		       const char *program, struct uprobe_family *ret_family);
void uprobe_family_close(struct uprobe_family *family);

/* The descriptor of a program, the family's; -1: it is none of it. */
int uprobe_family_find(const struct uprobe_family *family, const char *program);

#endif
