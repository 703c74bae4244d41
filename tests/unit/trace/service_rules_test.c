// SPDX-License-Identifier: Apache-2.0
/* What users say services are called, and attributes as texts. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "trace/service_rules.h"

static const char environment[] = "A=b\0APP=cart\0EMPTY=";
static const struct service_facts facts = {.exe = "/usr/sbin/nginx",
					   .comm = "nginx",
					   .args = "nginx -g daemon off;",
					   .cgroup = "/kubepods.slice/x",
					   .container = "c0ffee",
					   .pod = "",
					   .environment = environment,
					   .environment_size = sizeof(environment)};

static void expect(const char *text, const char *wanted)
{
	char attributes[ATTRIBUTES_MAX] = "", why[256];
	struct service_rules *rules;

	assert_int_equal(service_rules_read(text, strlen(text), "f", &rules, why, sizeof(why)), 0);
	service_rules_apply(rules, &facts, attributes);
	assert_string_equal(attributes, wanted);
	service_rules_free(rules);
}

static void rules_that_hold(void **state)
{
	(void)state;
	expect("", "");
	expect("# nothing\n\n  \t# more\r\n", "");
	expect("match set service.name=all", "service.name=all\n");
	expect("match exe=*/nginx comm=ng* set service.name=a service.namespace=b%20c # why\n",
	       "service.name=a\nservice.namespace=b c\n");
	expect("match exe=nginx set service.name=a\n", "");
	expect("match args=nginx*off? cgroup=*kubepods* container=c0* set a.b=1", "a.b=1\n");
	expect("match env.APP=c?rt set a.b=1\nmatch env.EMPTY= set c.d=2\n", "a.b=1\nc.d=2\n");
	expect("match env.NONE=* set a.b=1\nmatch env.APPX=* set a.b=1\n", "");
	expect("match pod=?* set a.b=1\n", "");
	/* The first one that says something counts. */
	expect("match comm=nginx set service.name=first\nmatch set service.name=second x.y=z\n",
	       "service.name=first\nx.y=z\n");
}

static void refuse(const char *text, const char *wanted)
{
	struct service_rules *rules = NULL;
	char why[256];

	assert_int_equal(service_rules_read(text, strlen(text), "f", &rules, why, sizeof(why)),
			 -EINVAL);
	assert_null(rules);
	assert_non_null(strstr(why, wanted));
}

static void rules_that_are_wrong(void **state)
{
	(void)state;
	refuse("match set a.b=1\nmatch comm set a.b=1\n", "f:2: 'comm': expected KEY=PATTERN");
	refuse("match exec=x set a.b=1", "f:1: 'exec': expected exe, comm");
	refuse("match env.=x set a.b=1", "f:1: 'env.'");
	refuse("match comm=x", "f:1: expected set");
	refuse("match comm=x set", "f:1: expected set");
	refuse("match set A.b=1", "'A.b=1': expected ATTRIBUTE=VALUE");
	refuse("match set container.id=1", "'container.id=1'");
	refuse("match set a.b=1 a.b=2", "'a.b=2': twice");
	refuse("match set a.b=", "'a.b=': twice, empty");
	refuse("match set a.b=%4", "'a.b=%4': twice, empty");
	refuse("match set a.b=1,c.d=2", "'a.b=1,c.d=2': twice, empty");
	/* Words of what is no such file may be secrets. */
	refuse("root:x:0:0\n", "f:1: expected match");
}

static void nothing_is_quoted(void **state)
{
	struct service_rules *rules;
	char why[256];

	(void)state;
	assert_int_equal(service_rules_read("secret", 6, "f", &rules, why, sizeof(why)), -EINVAL);
	assert_null(strstr(why, "secret"));
}

static void pairs_of_environments(void **state)
{
	char text[ATTRIBUTES_MAX] = "", value[8];

	(void)state;
	attributes_add_pairs(text, "a=1, b.c = 2,,Bad=3,d=%41%2c,e=%4,f,a=2,g=%41");
	assert_string_equal(text, "a=1\nd=A,\ng=A\n");
	assert_int_equal(attributes_get(text, "d", value, sizeof(value)), 0);
	assert_string_equal(value, "A,");
	assert_int_equal(attributes_get(text, "b", value, sizeof(value)), -ENOENT);
	assert_int_equal(attributes_add(text, "l", 1, "x\ny", 3), 0);
	assert_int_equal(attributes_get(text, "l", value, sizeof(value)), 0);
	assert_string_equal(value, "x\xef\xbf\xbdy");
}

static void there_is_no_more_room(void **state)
{
	char text[ATTRIBUTES_MAX] = "", value[ATTRIBUTES_VALUE_MAX] = {};
	int err = 0, added = 0;

	(void)state;
	memset(value, 'v', sizeof(value));
	assert_int_equal(attributes_add(text, "k", 1, value, sizeof(value)), -ENOSPC);
	for (char key = 'a'; !err && key <= 'z'; key++, added += !err)
		err = attributes_add(text, &key, 1, value, sizeof(value) - 1);
	assert_int_equal(err, -ENOSPC);
	assert_int_equal(added, 2);
	assert_true(strlen(text) < sizeof(text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rules_that_hold),       cmocka_unit_test(rules_that_are_wrong),
	    cmocka_unit_test(nothing_is_quoted),     cmocka_unit_test(pairs_of_environments),
	    cmocka_unit_test(there_is_no_more_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
