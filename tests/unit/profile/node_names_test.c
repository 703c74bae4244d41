// SPDX-License-Identifier: Apache-2.0
/* Names of functions of JavaScript, over objects as V8 has them, built in this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "runtimes/node/names.h"

#define TAGGED(object) ((__u64)(uintptr_t)(object) | 1)
#define SMI(number)    ((__u64)(number) << 32)

#define CHARS_MAX  320
#define LOCALS_MAX 100
#define FLAGS      (2U | 1U << 12) /* of a function that has a name */
#define NO_NAME    (2U | 1U << 14) /* but that of what it was assigned to */

struct map {
	__u64 words[1];
	__u32 size;
	__u16 type;
};

struct text {
	__u64 map;
	__u32 hash, length;
	union {
		char latin1[CHARS_MAX];
		__u16 wide[CHARS_MAX / 2];
		__u64 part[2];
	};
};

struct scope {
	__u64 map, flags, parameters, count;
	__u64 rest[2 * LOCALS_MAX];
};

struct script {
	__u64 map, source, name;
};

struct info {
	__u64 map, data, scope, feedback, script;
	__u16 length, parameters, offset, properties;
};

static struct {
	_Alignas(8) struct map latin1, wide, both, other, outside, scope_map, script_map, info_map;
	struct text name, inferred, file, more;
	struct scope scope;
	struct script script;
	struct info info;
} world;

static struct runtime_compiled compiled = {
    .life = 1,
    .node = {.function = 2066,
	     .info = 262,
	     .scope = 261,
	     .script = 167,
	     .info_scope = offsetof(struct info, scope),
	     .info_script = offsetof(struct info, script),
	     .info_parameters = offsetof(struct info, parameters),
	     .script_name = offsetof(struct script, name),
	     .scope_locals = offsetof(struct scope, rest),
	     .scope_smi = 1,
	     .scope_function = 2},
};

/* What ScopeInfo has in V8 13.6: flags that are no Smi, other kinds, and where the function is. */
#define PLACES_13 2 /* words */
#define KINDS_13  2 /* more of them come first */

static bool is_13(void)
{
	return !compiled.node.scope_smi;
}

static int be_13(void **state)
{
	(void)state;
	compiled.node.scope_smi = 0;
	compiled.node.scope_function += KINDS_13;
	compiled.node.scope_locals += PLACES_13 * sizeof(__u64);
	return 0;
}

static void set(struct text *text, const char *chars)
{
	text->map = TAGGED(&world.latin1);
	text->length = (__u32)strlen(chars);
	memcpy(text->latin1, chars, text->length);
}

static void set_parts(struct text *text, const struct map *map, __u64 first, __u64 second)
{
	text->map = TAGGED(map);
	text->part[0] = first;
	text->part[1] = second;
}

/* A function with so many variables in its context. */
static void set_scope(__u32 flags, __u32 count)
{
	__u64 *at =
	    world.scope.rest + (is_13() ? PLACES_13 : 0) + (count < 75 ? 2 * count : 1 + count);

	memset(&world.scope, 0xee, sizeof(world.scope));
	world.scope.map = TAGGED(&world.scope_map);
	world.scope.flags = is_13() ? SMI(4) | (flags + KINDS_13) : SMI(flags);
	world.scope.count = SMI(count);
	if (flags & 1U << 10)
		*at++ = SMI(7);
	if (flags & 3U << 12) {
		*at++ = TAGGED(&world.name);
		*at++ = SMI(3);
	}
	*at = flags & 1U << 14 ? TAGGED(&world.inferred) : SMI(1234);
}

static int build(void **state)
{
	(void)state;
	memset(&world, 0, sizeof(world));
	world.latin1.type = 40;
	world.wide.type = 32;
	world.both.type = 41;
	world.other.type = 45;
	world.outside.type = 42;
	world.scope_map.type = 261;
	world.script_map.type = 167;
	world.info_map.type = 262;
	set(&world.name, "burn");
	set(&world.inferred, "exports.burn");
	set(&world.file, "/srv/shop/burn.js");
	set_scope(FLAGS, 2);
	world.script = (struct script){TAGGED(&world.script_map), 0, TAGGED(&world.file)};
	world.info = (struct info){.map = TAGGED(&world.info_map),
				   .scope = TAGGED(&world.scope),
				   .script = TAGGED(&world.script),
				   .parameters = 3,
				   .offset = 9};
	return 0;
}

static __u64 check_now(void)
{
	return node_check(world.info.scope, world.info.script,
			  world.info.parameters | (__u32)world.info.offset << 16);
}

static int read_checked(__u64 check, char *ret_text)
{
	_cleanup_close_ int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	const struct named_code code = {
	    .address = TAGGED(&world.info), .check = check, .compiled = &compiled};

	assert_true(memory >= 0);
	return node_names.read(memory, &code, ret_text);
}

static void assert_reads(const char *wanted)
{
	char text[NAMED_TEXT_MAX];

	assert_int_equal(read_checked(check_now(), text), 0);
	assert_string_equal(text, wanted);
}

static void assert_fails(int err)
{
	char text[NAMED_TEXT_MAX];

	assert_int_equal(read_checked(check_now(), text), err);
}

static void a_function(void **state)
{
	(void)state;
	assert_reads("burn\n/srv/shop/burn.js");
}

static void variables_before_the_name(void **state)
{
	static const __u32 counts[] = {0, 1, 74, 75, LOCALS_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		set_scope(FLAGS, counts[i]);
		assert_reads("burn\n/srv/shop/burn.js");
		set_scope(FLAGS | 1U << 10, counts[i]); /* of a class */
		assert_reads("burn\n/srv/shop/burn.js");
	}
}

static void without_a_name(void **state)
{
	(void)state;
	set_scope(NO_NAME, 3);
	assert_reads("exports.burn\n/srv/shop/burn.js");
	set_scope(FLAGS | NO_NAME, 3);
	assert_reads("burn\n/srv/shop/burn.js");
	set(&world.name, "");
	assert_reads("exports.burn\n/srv/shop/burn.js");
	set_scope(2, 3);
	assert_reads("(anonymous)\n/srv/shop/burn.js");
	set_scope(3, 3); /* a module */
	assert_reads("(top level)\n/srv/shop/burn.js");
}

static void one_of_the_engine(void **state)
{
	(void)state;
	world.info.scope = TAGGED(&world.name);
	world.info.script = TAGGED(&world.outside);
	assert_reads("burn\n");
	set(&world.name, "");
	assert_reads("(anonymous)\n");
}

static void a_text_of_parts(void **state)
{
	(void)state;
	set_parts(&world.file, &world.both, TAGGED(&world.inferred), TAGGED(&world.more));
	set_parts(&world.more, &world.other, TAGGED(&world.name), 0);
	assert_reads("burn\nexports.burnburn");
}

static void characters(void **state)
{
	(void)state;
	world.name.map = TAGGED(&world.wide);
	world.name.length = 5;
	memcpy(world.name.wide, (const __u16[]){'a', 0xe9, 0x65e5, '\n', 0xd83d}, 10);
	assert_reads("a\303\251\346\227\245??\n/srv/shop/burn.js");
	set(&world.name, "\351\n");
	assert_reads("\303\251?\n/srv/shop/burn.js");
}

/* Its end is left out. */
static void a_long_name(void **state)
{
	char wanted[NAMED_TEXT_MAX];

	(void)state;
	world.name.length = CHARS_MAX;
	memset(world.name.latin1, 'm', CHARS_MAX);
	memset(wanted, 'm', 255);
	strcpy(wanted + 255, "\n/srv/shop/burn.js");
	assert_reads(wanted);
}

static void a_file_that_is_not_told(void **state)
{
	(void)state;
	world.file.map = TAGGED(&world.outside);
	assert_reads("burn\n");
	build(NULL);
	world.script_map.type = 168;
	assert_reads("burn\n");
}

/* Each time the garbage collector has put something else there. */
static void another_function_at_its_place(void **state)
{
	const __u64 check = check_now();
	char text[NAMED_TEXT_MAX];

	(void)state;
	world.info.scope += 8;
	assert_int_equal(read_checked(check, text), -ESTALE);
	build(NULL);
	world.info.script += 8;
	assert_int_equal(read_checked(check, text), -ESTALE);
	build(NULL);
	world.info.offset++;
	assert_int_equal(read_checked(check, text), -ESTALE);
	build(NULL);
	world.info_map.type = 261;
	assert_int_equal(read_checked(check, text), -ESTALE);
}

/* Its place has the address of where it is now, and may be used for something else. */
static void a_text_that_was_moved(void **state)
{
	(void)state;
	world.name.map = (__u64)(uintptr_t)&world.more;
	assert_fails(-EINVAL);
	build(NULL);
	world.file.map = (__u64)(uintptr_t)&world.more;
	assert_fails(-EINVAL);
	build(NULL);
	world.script.map = (__u64)(uintptr_t)&world.more;
	assert_fails(-EINVAL);
}

static void what_makes_no_sense(void **state)
{
	(void)state;
	world.info.scope = TAGGED(&world.script);
	assert_fails(-EINVAL);
	build(NULL);
	set_scope(FLAGS, LOCALS_MAX);
	world.scope.count = SMI(70000);
	assert_fails(-EINVAL);
	build(NULL);
	world.info.scope = TAGGED(&world.more);
	set_parts(&world.more, &world.other, TAGGED(&world.more), 0); /* a circle */
	assert_fails(-EINVAL);
	set_parts(&world.more, &world.both, TAGGED(&world.more), TAGGED(&world.more));
	assert_fails(-EINVAL);
}

static void a_version_that_is_not_known(void **state)
{
	const struct runtime_compiled other = {.life = 1, .node = {.builtins_size = 1}};
	struct named_code code = {.address = TAGGED(&world.info), .check = check_now()};
	char text[NAMED_TEXT_MAX];

	(void)state;
	assert_int_equal(node_names.read(-1, &code, text), -EINVAL);
	code.compiled = &other;
	assert_int_equal(node_names.read(-1, &code, text), -EINVAL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(a_function, build),
	    cmocka_unit_test_setup(variables_before_the_name, build),
	    cmocka_unit_test_setup(without_a_name, build),
	    cmocka_unit_test_setup(one_of_the_engine, build),
	    cmocka_unit_test_setup(a_text_of_parts, build),
	    cmocka_unit_test_setup(characters, build),
	    cmocka_unit_test_setup(a_long_name, build),
	    cmocka_unit_test_setup(a_file_that_is_not_told, build),
	    cmocka_unit_test_setup(another_function_at_its_place, build),
	    cmocka_unit_test_setup(a_text_that_was_moved, build),
	    cmocka_unit_test_setup(what_makes_no_sense, build),
	    cmocka_unit_test_setup(a_version_that_is_not_known, build),
	};

	return cmocka_run_group_tests_name("V8 10 to 12", tests, NULL, NULL) |
	       cmocka_run_group_tests_name("V8 13", tests, be_13, NULL);
}
