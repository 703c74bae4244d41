// SPDX-License-Identifier: Apache-2.0
/* Names of methods of Java, over what HotSpot keeps of them, built in this process. */
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
#include "runtimes/java/names.h"

#define TEXT_MAX  300
#define CONSTANTS 4

struct symbol {
	__u32 hash;
	__u16 length;
	char text[TEXT_MAX];
};

struct class;

struct constants {
	const struct class *holder;
	__u16 source;
	const struct symbol *constant[CONSTANTS];
};

struct class
{
	const struct symbol *name;
	const struct constants *constants;
};

struct const_method {
	const struct constants *constants;
	__u16 name;
};

struct method {
	__u64 table;
	const struct const_method *told;
};

struct blob {
	__u64 table;
	const char *name;
	const struct method *method;
	__u32 compilation;
};

static struct {
	struct symbol class_name, method_name, file_name;
	struct class class;
	struct constants constants;
	struct const_method told, other;
	struct method method;
	struct blob blob;
} world;

static const struct runtime_compiled compiled = {
    .life = 1,
    .java = {.name = offsetof(struct blob, name),
	     .method = offsetof(struct blob, method),
	     .scopes.compilation = offsetof(struct blob, compilation),
	     .const_method = offsetof(struct method, told),
	     .constants = offsetof(struct const_method, constants),
	     .name_index = offsetof(struct const_method, name),
	     .constants_size = offsetof(struct constants, constant),
	     .holder = offsetof(struct constants, holder),
	     .source = offsetof(struct constants, source),
	     .class_name = offsetof(struct class, name),
	     .class_constants = offsetof(struct class, constants),
	     .symbol_length = offsetof(struct symbol, length),
	     .symbol_text = offsetof(struct symbol, text)},
};

static void set(struct symbol *symbol, const char *text)
{
	symbol->length = (__u16)strlen(text);
	memcpy(symbol->text, text, symbol->length);
}

static int build(void **state)
{
	(void)state;
	memset(&world, 0, sizeof(world));
	set(&world.class_name, "org/example/Shop$Cart");
	set(&world.method_name, "total");
	set(&world.file_name, "Shop.java");
	world.class = (struct class){&world.class_name, &world.constants};
	world.constants =
	    (struct constants){&world.class, 2, {NULL, &world.method_name, &world.file_name, NULL}};
	world.told = (struct const_method){&world.constants, 1};
	world.method.told = &world.told;
	world.blob.name = "StubRoutines (1)";
	return 0;
}

static int read_code(__u64 address, __u64 check, char *ret_text)
{
	_cleanup_close_ int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	const struct named_code code = {.address = address, .check = check, .compiled = &compiled};

	assert_true(memory >= 0);
	return java_names.read(memory, &code, ret_text);
}

static int read_method(char *ret_text)
{
	return read_code((uintptr_t)&world.method, (uintptr_t)&world.told, ret_text);
}

static void a_method(void **state)
{
	char text[NAMED_TEXT_MAX];

	(void)state;
	assert_int_equal(read_method(text), 0);
	assert_string_equal(text, "org.example.Shop$Cart.total\nShop.java");
}

static void a_class_without_a_file(void **state)
{
	char text[NAMED_TEXT_MAX];

	(void)state;
	world.constants.source = 0;
	assert_int_equal(read_method(text), 0);
	assert_string_equal(text, "org.example.Shop$Cart.total\n");
}

/* A method of a class that was defined anew, or one of the virtual machine's own. */
static void constants_of_its_own(void **state)
{
	struct constants newer = world.constants;
	char text[NAMED_TEXT_MAX];

	(void)state;
	world.class.constants = &newer;
	assert_int_equal(read_method(text), 0);
	assert_string_equal(text, "org.example.Shop$Cart.total\nShop.java");
}

static void another_method_at_its_place(void **state)
{
	char text[NAMED_TEXT_MAX];

	(void)state;
	world.method.told = &world.other;
	assert_int_equal(read_method(text), -ESTALE);
}

static void what_is_no_method(void **state)
{
	char text[NAMED_TEXT_MAX];

	(void)state;
	world.class.constants = NULL;
	assert_int_equal(read_method(text), -EINVAL);
	build(NULL);
	world.constants.holder = NULL;
	assert_int_equal(read_method(text), -EINVAL);
	build(NULL);
	world.told.name = 3;
	assert_int_equal(read_method(text), -EINVAL);
	build(NULL);
	world.method_name.text[1] = 1;
	assert_int_equal(read_method(text), -EINVAL);
	assert_int_not_equal(read_code(0, 0, text), 0);
}

/* Its end is left out. */
static void a_long_name(void **state)
{
	char text[NAMED_TEXT_MAX], wanted[NAMED_TEXT_MAX] = "org.example.Shop$Cart.";
	const size_t before = strlen(wanted);

	(void)state;
	memset(world.method_name.text, 'm', TEXT_MAX);
	world.method_name.length = TEXT_MAX;
	assert_int_equal(read_method(text), 0);
	memset(wanted + before, 'm', 191);
	memcpy(wanted + before + 191, "\nShop.java", sizeof("\nShop.java"));
	assert_string_equal(text, wanted);
}

/* Of a character that is cut there is nothing. */
static void names_in_other_letters(void **state)
{
	char text[NAMED_TEXT_MAX];

	(void)state;
	set(&world.method_name, "größe");
	assert_int_equal(read_method(text), 0);
	assert_string_equal(text, "org.example.Shop$Cart.größe\nShop.java");
	world.method_name.length--; /* in the middle of none */
	assert_int_equal(read_method(text), 0);
	world.method_name.length = 3; /* in the middle of one, but not cut here */
	assert_int_equal(read_method(text), -EINVAL);
	memset(world.method_name.text, 'm', TEXT_MAX);
	memcpy(world.method_name.text + 190, "ö", 2);
	world.method_name.length = TEXT_MAX;
	assert_int_equal(read_method(text), 0);
	assert_string_equal(text + strlen(text) - sizeof("m\nShop.java") + 1, "m\nShop.java");
}

static void other_code(void **state)
{
	const __u64 address = (uintptr_t)&world.blob | JAVA_PAIR_BLOB;
	char text[NAMED_TEXT_MAX];

	(void)state;
	assert_int_equal(read_code(address, (uintptr_t)world.blob.name, text), 0);
	assert_string_equal(text, "[StubRoutines (1) of Java]\n");
	assert_int_equal(read_code(address, (uintptr_t) "of another blob", text), -ESTALE);
	world.blob.name = "a name\nand more";
	assert_int_equal(read_code(address, (uintptr_t)world.blob.name, text), -EINVAL);
}

/* Where nothing is told of the place, it is the method that was compiled. */
static void code_that_has_called(void **state)
{
	const __u64 address = (uintptr_t)&world.blob | JAVA_PAIR_CALL;
	const __u64 check = 7ULL << JAVA_CALL_SHIFT | 0x40;
	char text[NAMED_TEXT_MAX];

	(void)state;
	world.blob.method = &world.method;
	world.blob.compilation = 7;
	assert_int_equal(read_code(address, check, text), 0);
	assert_string_equal(text, "org.example.Shop$Cart.total\nShop.java");
	world.blob.compilation = 8;
	assert_int_equal(read_code(address, check, text), -ESTALE);
}

static void a_process_that_is_not_known(void **state)
{
	const struct named_code code = {.address = (uintptr_t)&world.method,
					.check = (uintptr_t)&world.told};
	char text[NAMED_TEXT_MAX];

	(void)state;
	assert_int_equal(java_names.read(-1, &code, text), -EINVAL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(a_method, build),
	    cmocka_unit_test_setup(a_class_without_a_file, build),
	    cmocka_unit_test_setup(constants_of_its_own, build),
	    cmocka_unit_test_setup(another_method_at_its_place, build),
	    cmocka_unit_test_setup(what_is_no_method, build),
	    cmocka_unit_test_setup(a_long_name, build),
	    cmocka_unit_test_setup(names_in_other_letters, build),
	    cmocka_unit_test_setup(other_code, build),
	    cmocka_unit_test_setup(code_that_has_called, build),
	    cmocka_unit_test_setup(a_process_that_is_not_known, build),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
