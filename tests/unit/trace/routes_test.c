// SPDX-License-Identifier: Apache-2.0
/* Routes out of paths: few of them, whatever is asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "trace/routes.h"

static const char *answered(struct routes *routes, const char *path, unsigned int status)
{
	static const struct routes_service shop = {"shop", "uid 1000"};
	static char name[256];

	routes_name(routes, &shop, path, status, name, sizeof(name));
	return name;
}

static const char *route(struct routes *routes, const char *path)
{
	return answered(routes, path, 200);
}

static void ids(void **state)
{
	(void)state;
#define IS(text)     assert_true(routes_is_id(text, strlen(text)))
#define IS_NOT(text) assert_false(routes_is_id(text, strlen(text)))
	IS("7");
	IS("20261124");
	IS("550e8400-e29b-41d4-a716-446655440000");
	IS("deadbeefdeadbeef");
	IS("DEADBEEF01234567");
	IS("dGhpcyBpcyBhIHRlc3Q0");
	IS_NOT("");
	IS_NOT("v1");
	IS_NOT("deadbeef");
	IS_NOT("550e8400-e29b-41d4-a716-44665544000g");
	IS_NOT("continuous-integration-pipelines");
	IS_NOT("release-notes-2026-archive-of-all");
	IS_NOT("index.html");
}

static void variable_parts(void **state)
{
	struct routes *routes = routes_new();

	(void)state;
	assert_string_equal(route(routes, "/"), "/");
	assert_string_equal(route(routes, "/cart"), "/cart");
	assert_string_equal(route(routes, "/cart/"), "/cart/");
	assert_string_equal(route(routes, "/cart/42/items/7"), "/cart/{id}/items/{id}");
	assert_string_equal(route(routes, ""), "/*");
	assert_string_equal(route(routes, "*"), "/*");
	assert_string_equal(route(routes, "/1/2/3/4/5/6/7/8/9/1/2/3/4/5/6/7/8"), "/*");
	routes_free(routes);
}

static void siblings(void **state)
{
	struct routes *routes = routes_new();
	char path[64];

	(void)state;
	for (int i = 0; i < ROUTES_SIBLINGS; i++) {
		snprintf(path, sizeof(path), "/users/u%d/x", i);
		assert_string_equal(route(routes, path), path);
	}
	assert_string_equal(route(routes, "/users/one-more/x"), "/users/{id}/x");
	/* From now on all of them. */
	assert_string_equal(route(routes, "/users/u0/x"), "/users/{id}/x");
	assert_string_equal(route(routes, "/users"), "/users");
	routes_free(routes);
}

/* Somebody asks for what is not there, or is kept from it: nothing of that is learnt. */
static void scanners(void **state)
{
	static const unsigned int answers[] = {404, 405, 403, 400, 500, 0};
	struct routes *routes = routes_new();
	char path[64];

	(void)state;
	for (int i = 0; i < 3600; i++) {
		const unsigned int status = answers[i % 6];

		snprintf(path, sizeof(path), "/scan%d", i);
		assert_int_equal(!strcmp(answered(routes, path, status), ROUTES_NOT_FOUND),
				 status == 404 || status == 405);
	}
	assert_string_equal(route(routes, "/orders"), "/orders");
	assert_string_equal(answered(routes, "/orders", 404), ROUTES_NOT_FOUND);
	assert_string_equal(answered(routes, "/orders", 500), "/orders");
	assert_string_equal(answered(routes, "/orders/17", 301), "/orders/{id}");
	assert_string_equal(answered(routes, "/orders/18", 503), "/orders/{id}");
	routes_free(routes);
}

/* What has only failed has a name, too, and is known by its good name from a good answer on. */
static void failing(void **state)
{
	struct routes *routes = routes_new();

	(void)state;
	assert_string_equal(answered(routes, "/pay/7", 500), "/pay/{id}");
	assert_string_equal(answered(routes, "/pay/a/b", 0), "/pay/a/b");
	assert_string_equal(answered(routes, "/pay/8", 502), "/pay/{id}");
	for (int i = 0; i < 2 * ROUTES_FAILED_MAX; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/r%d/p%d", i % 10, i / 10);
		answered(routes, path, 500);
	}
	assert_string_equal(answered(routes, "/one/more", 500), "/*");
	assert_string_equal(answered(routes, "/one/more", 204), "/one/more");
	assert_string_equal(answered(routes, "/one/more", 500), "/one/more");
	routes_free(routes);
}

/* A service has so many routes, and no more, whatever its paths are. */
static void bounded(void **state)
{
	struct routes *routes = routes_new();
	static char seen[2 * ROUTES_MAX][256];
	size_t count = 0;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		const char *name;
		char path[64];
		size_t at = 0;

		snprintf(path, sizeof(path), "/a%d/b%d/c%d", i % 19, i / 19 % 19, i / 361 % 19);
		name = route(routes, path);
		while (at < count && strcmp(seen[at], name) != 0)
			at++;
		if (at == count) {
			assert_in_range(count, 0, ROUTES_MAX);
			strcpy(seen[count++], name);
		}
	}
	assert_int_equal(count, ROUTES_MAX + 1); /* with that of all others */
	routes_free(routes);
}

static void services_apart(void **state)
{
	struct routes *routes = routes_new();
	char name[64], service[32];

	(void)state;
	for (int i = 0; i < ROUTES_SERVICES + 10; i++) {
		const struct routes_service one = {service, i % 2 ? "uid 1" : "uid 2"};

		snprintf(service, sizeof(service), "s%d", i);
		routes_name(routes, &one, "/x", 200, name, sizeof(name));
		assert_string_equal(name, i < ROUTES_SERVICES / 2 ? "/x" : "/*");
	}
	routes_free(routes);
}

/* Somebody with many services leaves trees to the others. */
static void owners_apart(void **state)
{
	struct routes *routes = routes_new();
	const struct routes_service shop = {"shop", "uid 2"};
	char name[64], service[32];

	(void)state;
	for (int i = 0; i < ROUTES_SERVICES + 10; i++) {
		const struct routes_service one = {service, "uid 1"};

		snprintf(service, sizeof(service), "s%d", i);
		routes_name(routes, &one, "/x", 200, name, sizeof(name));
		assert_string_equal(name, i < ROUTES_SERVICES / 2 ? "/x" : "/*");
	}
	routes_name(routes, &shop, "/x", 200, name, sizeof(name));
	assert_string_equal(name, "/x");
	routes_free(routes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ids),
	    cmocka_unit_test(variable_parts),
	    cmocka_unit_test(siblings),
	    cmocka_unit_test(scanners),
	    cmocka_unit_test(failing),
	    cmocka_unit_test(bounded),
	    cmocka_unit_test(services_apart),
	    cmocka_unit_test(owners_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
