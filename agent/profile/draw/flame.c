// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/unique.h"
#include "profile/draw/flame.h"

#define DEPTH_MAX 8200 /* more than there are in a message (message.h), or in a sample */

static struct flame *flame_node(const char *name, enum step_kind kind)
{
	struct flame *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->kind = kind;
	node->name = strdup(name);
	if (node->name)
		return node;
	free(node);
	return NULL;
}

/* The child of this name, made if it is new, wider by `weight`. NULL: no memory. */
static struct flame *enter(struct flame *node, const char *name, enum step_kind kind, __u64 weight)
{
	struct flame **at = &node->child, *child;
	int order = 1;

	while (*at && (order = strcmp((*at)->name, name)) < 0)
		at = &(*at)->sibling;
	if (!*at || order || (*at)->kind != kind) {
		child = flame_node(name, kind);
		if (!child)
			return NULL;
		child->sibling = *at;
		*at = child;
	}
	(*at)->total += weight;
	return *at;
}

static int add_sample(struct flame *root, struct message_path *path, __u64 weight)
{
	struct flame *node = root;

	root->total += weight;
	for (size_t i = 0; node && i < path->count; i++)
		node = enter(node, path->step[i].name, path->step[i].kind, weight);
	if (!node)
		return -1;
	node->self += weight;
	return 0;
}

struct flame *flame_of_message(const struct message_weight *weight, bool with_endpoint)
{
	const struct message *message = weight->message;
	struct flame *root = flame_node("all", STEP_NATIVE);
	struct message_path path = {};
	int err = root ? 0 : -1;

	for (size_t i = 0; !err && i < message->profile->n_sample; i++) {
		const Perftools__Profiles__Sample *sample = message->profile->sample[i];
		const __u64 value = message_weigh(weight, sample);

		if (!value)
			continue;
		err = message_path(&path, message, sample, with_endpoint);
		if (!err)
			err = add_sample(root, &path, value);
	}
	message_path_free(&path);
	if (!err)
		return root;
	flame_free(root);
	return NULL;
}

void flame_free(struct flame *root)
{
	struct flame *next;

	for (struct flame *node = root; node; node = next) {
		next = node->sibling;
		flame_free(node->child);
		free(node->name);
		free(node);
	}
}

enum flame_unit flame_unit_of(const struct message_weight *weight)
{
	return !strcmp(weight->unit, "nanoseconds") ? FLAME_NS : FLAME_SAMPLES;
}

const struct flame *flame_child(const struct flame *node, const char *name)
{
	const struct flame *child = node->child;

	while (child && strcmp(child->name, name) != 0)
		child = child->sibling;
	return child;
}

/* What a tree has on the CPU by the function that it ends in, whatever called it. */
struct tally {
	struct unique names;
	__u64 *count; /* by number of the name */
	size_t room;
};

/* Returns 0 or -1. */
static int count(struct tally *tally, const struct flame *node)
{
	long number = strings_add(&tally->names, node->name);
	__u64 *more;

	if (number < 0)
		return -1;
	if ((size_t)number >= tally->room) {
		more = reallocarray(tally->count, tally->names.room, sizeof(*more));
		if (!more)
			return -1;
		for (size_t i = tally->room; i < tally->names.room; i++)
			more[i] = 0;
		tally->count = more;
		tally->room = tally->names.room;
	}
	tally->count[number] += node->self;
	return 0;
}

static int add_below(struct tally *tally, const struct flame *node)
{
	int err = node->self && node->kind != STEP_WAIT ? count(tally, node) : 0;

	for (const struct flame *child = node->child; child && !err; child = child->sibling)
		err = add_below(tally, child);
	return err;
}

/* The name as the tree has it. */
static const char *name_in(const struct flame *node, const char *name)
{
	const char *found = node->self && !strcmp(node->name, name) ? node->name : NULL;

	for (const struct flame *child = node->child; child && !found; child = child->sibling)
		found = name_in(child, name);
	return found;
}

const char *flame_hottest(const struct flame *root, __u64 *ret_samples)
{
	struct tally tally = {};
	const char *name = NULL;
	size_t most = 0;

	if (!add_below(&tally, root) && tally.room) {
		for (size_t i = 1; i < tally.names.count; i++)
			if (tally.count[i] > tally.count[most])
				most = i;
		*ret_samples = tally.count[most];
		name = name_in(root, tally.names.text[most]);
	}
	unique_free_all(&tally.names);
	free(tally.count);
	return name;
}

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
