// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profile/flame.h"
#include "profile/merged.h"

#define TITLE_MAX 1280

/* What is being built, and of what. */
struct building {
	struct flame *root;
	const struct names *names;
	struct requests *requests;
	const struct filter *filter;
	__u64 sample_ns; /* 0: samples are counted */
};

static struct flame *flame_node(const char *name, enum flame_kind kind)
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
static struct flame *enter(struct flame *node, const char *name, enum flame_kind kind, __u64 weight)
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

/* The endpoint as people know it. */
static const char *title(const struct endpoint *endpoint, char *buffer, size_t size)
{
	if (!*endpoint->service)
		return endpoint->name;
	snprintf(buffer, size, "%s %s", endpoint->service, endpoint->name);
	return buffer;
}

static enum flame_kind kind_of(__u64 frame)
{
	if (frame & FRAME_KERNEL)
		return FLAME_KERNEL;
	return frame_is_named(frame) ? FLAME_NAMED : FLAME_NATIVE;
}

/* Frames from the outermost to the innermost. */
static struct flame *enter_frames(const struct building *building, struct flame *node,
				  const struct stack *stack, __u64 weight)
{
	__u64 frame[MERGED_MAX];

	for (size_t i = merged_frames(building->names, stack, frame); node && i > 0; i--)
		node = enter(node, names_get(building->names, frame[i - 1]), kind_of(frame[i - 1]),
			     weight);
	return node;
}

/* A stack, which ends in the frame `leaf` unless that is NULL. Returns 0, or -1: no memory. */
static int enter_stack(const struct building *building, const struct stack *stack,
		       const struct endpoint *endpoint, __u64 weight, const char *leaf)
{
	const char *missing = merged_missing(building->names, stack);
	struct flame *node = building->root;
	char buffer[TITLE_MAX];

	if (!weight)
		return 0;
	node->total += weight;
	node = enter(node, title(endpoint, buffer, sizeof(buffer)), FLAME_NATIVE, weight);
	if (node)
		node =
		    enter(node, *stack->process->name ? stack->process->name : "[unknown program]",
			  FLAME_NATIVE, weight);
	if (node && missing)
		node = enter(node, missing, FLAME_NATIVE, weight);
	if (node)
		node = enter_frames(building, node, stack, weight);
	if (node && leaf)
		node = enter(node, leaf, FLAME_WAIT, weight);
	if (!node)
		return -1;
	node->self += weight;
	return 0;
}

static int enter_waits(const struct building *building, const struct stack *stack,
		       struct endpoint *endpoint)
{
	static const char *const leaves[PROFILE_WAITS] = {
	    [PROFILE_BLOCKED] = "[blocked]", [PROFILE_RUN_QUEUE] = "[run queue]"};
	int err = 0;

	for (size_t i = 0; !err && i < PROFILE_WAITS; i++) {
		endpoint->waited_ns[i] += stack->waited_ns[i];
		err = enter_stack(building, stack, endpoint, stack->waited_ns[i], leaves[i]);
	}
	return err;
}

static int add_stack(const struct stack *stack, void *data)
{
	const struct building *building = data;
	const struct profiled_request request = stack_request(stack, building->requests);
	struct endpoint *endpoint = request.endpoint;
	const __u64 sample_ns = building->sample_ns;

	if (!filter_takes(building->filter, stack, &request))
		return 0;
	endpoint->samples += stack->count;
	if (enter_stack(building, stack, endpoint, stack->count * (sample_ns ? sample_ns : 1),
			NULL))
		return -1;
	return sample_ns ? enter_waits(building, stack, endpoint) : 0;
}

struct flame *flame_new(const struct samples *samples, const struct names *names,
			struct requests *requests, const struct filter *filter, __u64 sample_ns)
{
	struct building building = {.root = flame_node("all", FLAME_NATIVE),
				    .names = names,
				    .requests = requests,
				    .filter = filter,
				    .sample_ns = sample_ns};

	if (building.root && !samples_each(samples, add_stack, &building))
		return building.root;
	flame_free(building.root);
	return NULL;
}

struct flame *flame_root(void)
{
	return flame_node("all", FLAME_NATIVE);
}

struct flame *flame_enter(struct flame *node, const char *name, enum flame_kind kind, __u64 weight)
{
	return enter(node, name, kind, weight);
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

struct flame *flame_take_out(struct flame *root, const char *name)
{
	struct flame **at = &root->child, *child;

	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->sibling;
	child = *at;
	if (!child)
		return NULL;
	*at = child->sibling;
	child->sibling = NULL;
	root->total -= child->total;
	return child;
}

const struct flame *flame_child(const struct flame *node, const char *name)
{
	const struct flame *child = node->child;

	while (child && strcmp(child->name, name) != 0)
		child = child->sibling;
	return child;
}

const struct flame *flame_of_endpoint(const struct flame *root, const struct endpoint *endpoint)
{
	char buffer[TITLE_MAX];

	return flame_child(root, title(endpoint, buffer, sizeof(buffer)));
}
