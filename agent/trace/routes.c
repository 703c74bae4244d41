// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "trace/routes.h"
#include "trace/shares.h"

#define HEX_ID      16 /* characters from which on they are an id */
#define BASE64_ID   20
#define UUID_LENGTH 36

static const char any_id[] = "{id}", all_others[] = "/*";

/* A segment, below those before it. */
struct node {
	char *segment;
	struct node *first, *next; /* child, sibling */
	unsigned int children;
	bool is_route; /* a path has ended here */
};

struct tree {
	struct node root;
	unsigned int routes, most;
};

struct service_routes {
	char *service;
	struct tree good;   /* of good answers */
	struct tree failed; /* of all others */
};

struct routes {
	struct service_routes of[ROUTES_SERVICES];
	size_t services;
	struct shares shares;
};

static bool is_uuid(const char *segment, size_t length)
{
	if (length != UUID_LENGTH)
		return false;
	for (size_t i = 0; i < length; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? segment[i] != '-' : !isxdigit((unsigned char)segment[i]))
			return false;
	}
	return true;
}

bool routes_is_id(const char *segment, size_t length)
{
	size_t digits = 0, hex = 0, small = 0, capital = 0, others = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)segment[i];

		digits += !!isdigit(c);
		hex += !!isxdigit(c);
		small += !!islower(c);
		capital += !!isupper(c);
		others += !isalnum(c) && !strchr("+-_=", c);
	}
	if (length && digits == length)
		return true;
	if (hex == length && length >= HEX_ID)
		return true;
	if (length >= BASE64_ID && !others && digits && small && capital)
		return true;
	return is_uuid(segment, length);
}

struct routes *routes_new(void)
{
	struct routes *routes = calloc(1, sizeof(*routes));

	if (routes)
		routes->shares.room = ROUTES_SERVICES;
	return routes;
}

/* Free what is below a node; returns how many routes that were. */
static unsigned int cut(struct node *node)
{
	unsigned int routes = 0;
	struct node *next;

	for (struct node *child = node->first; child; child = next) {
		next = child->next;
		routes += cut(child) + child->is_route;
		free(child->segment);
		free(child);
	}
	node->first = NULL;
	node->children = 0;
	return routes;
}

void routes_free(struct routes *routes)
{
	if (!routes)
		return;
	for (size_t i = 0; i < routes->services; i++) {
		cut(&routes->of[i].good.root);
		cut(&routes->of[i].failed.root);
		free(routes->of[i].service);
	}
	free(routes);
}

/* NULL: there is no room for it. */
static struct service_routes *routes_of(struct routes *routes, const struct routes_service *service)
{
	struct service_routes *of;

	for (size_t i = 0; i < routes->services; i++)
		if (!strcmp(routes->of[i].service, service->name))
			return &routes->of[i];
	if (!shares_take(&routes->shares, service->owner))
		return NULL;
	of = &routes->of[routes->services];
	of->service = strdup(service->name);
	of->good.most = ROUTES_MAX;
	of->failed.most = ROUTES_FAILED_MAX;
	routes->services += !!of->service;
	return of->service ? of : NULL;
}

static struct node *find(const struct node *parent, const char *segment, size_t length)
{
	struct node *child = parent->first;

	while (child && (strncmp(child->segment, segment, length) != 0 || child->segment[length]))
		child = child->next;
	return child;
}

static struct node *add(struct node *parent, const char *segment, size_t length)
{
	struct node *child = calloc(1, sizeof(*child));

	if (child)
		child->segment = strndup(segment, length);
	if (!child || !child->segment) {
		free(child);
		return NULL;
	}
	child->next = parent->first;
	parent->first = child;
	parent->children++;
	return child;
}

/* The node of a segment, as far as it is known; NULL: it is not. */
static struct node *find_step(const struct node *parent, const char *segment, size_t length)
{
	struct node *any = find(parent, any_id, sizeof(any_id) - 1);

	if (parent->children > ROUTES_SIBLINGS || routes_is_id(segment, length))
		return any;
	return find(parent, segment, length);
}

/* The node of a segment that is not known: made. NULL: out of memory. */
static struct node *learn(struct tree *tree, struct node *parent, const char *segment,
			  size_t length)
{
	struct node *any;

	if (routes_is_id(segment, length))
		return add(parent, any_id, sizeof(any_id) - 1);
	if (parent->children < ROUTES_SIBLINGS)
		return add(parent, segment, length);
	/* Too many different ones: all of them count as variable. */
	tree->routes -= cut(parent);
	any = add(parent, any_id, sizeof(any_id) - 1);
	parent->children = ROUTES_SIBLINGS + 1;
	return any;
}

/* The end of a path: is it a route, or may it become one? */
static bool ends(struct tree *tree, struct node *node, bool learns)
{
	if (!node->is_route && (!learns || tree->routes >= tree->most))
		return false;
	tree->routes += !node->is_route;
	node->is_route = true;
	return true;
}

/* Append "/segment" to a route. */
static void append(char *route, size_t size, const char *segment)
{
	size_t used = strlen(route);

	if (used + 1 >= size)
		return;
	route[used] = '/';
	text_copy(route + used + 1, size - used - 1, segment);
}

/* Segments of a path; 0: it is none. */
static int depth_of(const char *path)
{
	int depth = 0;

	for (const char *at = *path == '/' ? path : ""; *at; at++)
		depth += *at == '/';
	return depth;
}

/* Returns whether the path has a route. A full tree learns nothing more. */
static bool name(struct tree *tree, const char *path, bool learns, char *route, size_t size)
{
	int depth = depth_of(path);
	struct node *node = &tree->root;

	route[0] = '\0';
	if (!depth || depth > ROUTES_DEPTH)
		return false;
	for (const char *at = path; *at == '/';) {
		size_t length = strcspn(++at, "/");
		struct node *known = find_step(node, at, length);

		if (!known && learns && tree->routes < tree->most)
			known = learn(tree, node, at, length);
		if (!known)
			return false;
		node = known;
		append(route, size, node->segment);
		at += length;
	}
	return ends(tree, node, learns);
}

static bool is_good(unsigned int status)
{
	return status && status < 400;
}

void routes_name(struct routes *routes, const struct routes_service *service, const char *path,
		 unsigned int status, char *ret_route, size_t size)
{
	struct service_routes *of;

	if (status == 404 || status == 405) {
		text_copy(ret_route, size, ROUTES_NOT_FOUND);
		return;
	}
	of = routes_of(routes, service);
	if (of && (name(&of->good, path, is_good(status), ret_route, size) ||
		   (!is_good(status) && name(&of->failed, path, true, ret_route, size))))
		return;
	text_copy(ret_route, size, all_others);
}
