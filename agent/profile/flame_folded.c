// SPDX-License-Identifier: Apache-2.0
#include "profile/flame.h"

#define DEPTH_MAX 8200 /* more than there are in a message (message.h), or in a sample */

/* A name may hold what separates the names; control codes have no place in a line. */
static void write_name(const char *name, FILE *out)
{
	for (; *name; name++)
		fputc(*name == ';' ? ':' : (unsigned char)*name < ' ' ? '?' : *name, out);
}

static void write_line(const struct flame *const *path, size_t depth, __u64 count, FILE *out)
{
	for (size_t i = 0; i < depth; i++) {
		if (i)
			fputc(';', out);
		write_name(path[i]->name, out);
	}
	fprintf(out, " %llu\n", count);
}

static void write_below(const struct flame *node, const struct flame **path, size_t depth,
			FILE *out)
{
	if (node->self)
		write_line(path, depth, node->self, out);
	if (depth == DEPTH_MAX)
		return;
	for (const struct flame *child = node->child; child; child = child->sibling) {
		path[depth] = child;
		write_below(child, path, depth + 1, out);
	}
}

void flame_write_folded(const struct flame *root, FILE *out)
{
	const struct flame *path[DEPTH_MAX + 1];

	write_below(root, path, 0, out);
}
