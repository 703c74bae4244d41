/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes: paths with their variable parts taken out, so that there are few of them. They are learnt
 * from the paths that pass, one tree of segments for each service:
 *
 *   - a segment that looks like an id is `{id}` at once: a number, a UUID, 16 or more hex digits,
 * or 20 or more characters of base64 with a digit, a small and a capital letter among them;
 *   - where more than ROUTES_SIBLINGS different segments have stood, all of them are `{id}` from
 *     then on (routes that were named before keep their names);
 *   - what was answered 404 or 405 is ROUTES_NOT_FOUND, whatever the path is, and teaches nothing;
 *   - nor does what was refused or failed otherwise, or was not answered: a path that no good
 * answer has taught has the route that it has among such ones, of which there are
 * ROUTES_FAILED_MAX;
 *   - when a service has ROUTES_MAX routes, all others are "/" and an asterisk; so is what is
 *     deeper than ROUTES_DEPTH segments, and an empty path.
 *
 * The same paths in the same order with the same answers have the same routes.
 */
#ifndef CTXPROP_ROUTES_H
#define CTXPROP_ROUTES_H

#include <stdbool.h>
#include <stddef.h>

#define ROUTES_SIBLINGS   20
#define ROUTES_MAX        200
#define ROUTES_FAILED_MAX 50
#define ROUTES_DEPTH      16
#define ROUTES_SERVICES   256 /* more services than that have the route of all others */
#define ROUTES_NOT_FOUND  "(not found)"

struct routes;

struct routes *routes_new(void);
void routes_free(struct routes *routes);

struct routes_service {
	const char *name, *owner; /* owner: who has a share of the trees (shares.h) */
};

/*
 * The route of a path (without query) that was answered so (0: not at all) into a buffer, cut where
 * it does not fit.
 */
void routes_name(struct routes *routes, const struct routes_service *service, const char *path,
		 unsigned int status, char *ret_route, size_t size);

/* Does a segment of `length` bytes look like an id? */
bool routes_is_id(const char *segment, size_t length);

#endif
