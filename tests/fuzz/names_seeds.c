// SPDX-License-Identifier: Apache-2.0
/*
 * names_seeds FOLDER: writes inputs of names_fuzz whose names can be read, of all runtimes, so that
 * the fuzzer starts from what readers understand.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "names_input.h"
#include "runtimes/python/code_layout.h"
#include "runtimes/ruby/code_layout.h"

#define BASE 0x100000ULL /* a multiple of the window, with room before it */
#define CODE BASE

static __u8 bytes[MEMORY_WINDOW];
static const char *folder;

static void put(__u64 address, __u64 value, size_t size)
{
	memcpy(bytes + address % MEMORY_WINDOW, &value, size);
}

static void put_word(__u64 address, __u64 value)
{
	put(address, value, sizeof(value));
}

static void put_text(__u64 address, const char *text)
{
	memcpy(bytes + address % MEMORY_WINDOW, text, strlen(text));
}

/* Without the zeros at the end of the memory, and begin anew. */
static void write_seed(const char *name, const struct names_input *input)
{
	size_t size = MEMORY_WINDOW;
	char path[4096];
	FILE *file;

	while (size && !bytes[size - 1])
		size--;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "we");
	if (!file || fwrite(input, sizeof(*input), 1, file) != 1 ||
	    fwrite(bytes, 1, size, file) != size || fclose(file))
		exit(1);
	memset(bytes, 0, sizeof(bytes));
}

static void python_text(__u64 object, const char *text, __u64 ascii_at)
{
	put_word(object + 16, strlen(text));
	put_word(object + 32, 1U << 2 | 1U << 5 | 1U << 6);
	put_text(object + ascii_at, text);
}

static void python_code(enum python_code_layout layout)
{
	const bool is_old = layout == PYTHON_CODE_3_10;
	const __u64 ascii_at = layout == PYTHON_CODE_3_12 ? 40 : 48;
	const struct names_input input = {.address = CODE, .right = 1, .layout = (__u8)layout};
	char name[16];

	put_word(CODE + (is_old ? 104 : 112), BASE + 0x200);
	put_word(CODE + (is_old ? PYTHON_CODE_NAME_3_10 : PYTHON_CODE_NAME), BASE + 0x300);
	put_word(CODE + 128, BASE + 0x300);
	put(CODE + 40, 7, sizeof(__u32));
	put(CODE + 68, 7, sizeof(__u32));
	put(CODE + 72, 7, sizeof(__u32));
	python_text(BASE + 0x200, "/srv/app.py", ascii_at);
	python_text(BASE + 0x300, "Shop.total", ascii_at);
	snprintf(name, sizeof(name), "python-%d", layout);
	write_seed(name, &input);
}

static void ruby_text(__u64 object, const char *text, enum ruby_code_layout layout)
{
	const bool is_new = layout >= RUBY_CODE_3_2;

	put_word(object, is_new ? 5 : 5 | strlen(text) << 14);
	if (is_new)
		put_word(object + 16, strlen(text));
	put_text(object + (is_new ? 24 : 16), text);
}

/* The class from which all inherit: it has its name in itself, or among its variables. */
static void ruby_class(__u64 class, enum ruby_code_layout layout)
{
	put_word(class, 2);
	put_word(class + 24, class + 0x100);
	put_word(class + 0x108, class + 0x180);
	put_word(class + 0x180 + 40, 1);
	put_word(class + 0x180 + 48, class + 0x200);
	put_word(class + 0x208, 7);
	put_word(class + 0x210, class + 0x280);
	put_word(class + 144, 1ULL << 40);
	put_word(class + 152, class + 0x280);
	ruby_text(class + 0x280, "BasicObject", layout);
}

static void ruby_code(enum ruby_code_layout layout)
{
	const struct ruby_named named = {.code = CODE, .owner = BASE + 0x500};
	const struct names_input input = {.address = ruby_first_word(&named),
					  .check = ruby_second_word(&named),
					  .right = 1,
					  .layout = (__u8)layout};
	char name[16];

	put_word(CODE + RUBY_CODE_BODY, BASE + 0x100);
	put_word(BASE + 0x100 + 8 * RUBY_BODY_PATH, BASE + 0x200);
	put_word(BASE + 0x100 + 8 * RUBY_BODY_BASE, BASE + 0x400);
	put_word(BASE + 0x100 + 8 * RUBY_BODY_LABEL, BASE + 0x300);
	put_word(BASE + 0x100 + 8 * RUBY_BODY_LINE, 15);
	ruby_text(BASE + 0x200, "/srv/app.rb", layout);
	ruby_text(BASE + 0x300, "block in total", layout);
	ruby_text(BASE + 0x400, "total", layout);
	ruby_class(named.owner, layout);
	snprintf(name, sizeof(name), "ruby-%d", layout);
	write_seed(name, &input);
}

/* Places in objects of HotSpot: those that this one has. */
static struct java_code java_layout(void)
{
	return (struct java_code){
	    .name = 8,
	    .method = 16,
	    .code_begin = 24,
	    .const_method = 8,
	    .constants = 0,
	    .name_index = 8,
	    .constants_size = 16,
	    .holder = 0,
	    .source = 8,
	    .class_name = 0,
	    .class_constants = 8,
	    .symbol_length = 4,
	    .symbol_text = 6,
	    .scopes = {
		.compilation = 32, .places = 36, .places_end = 40, .data = 48, .methods = 44}};
}

static void java_symbol(__u64 symbol, const char *text)
{
	put(symbol + 4, strlen(text), sizeof(__u16));
	put_text(symbol + 6, text);
}

static void java_method(void)
{
	put_word(CODE + 8, BASE + 0x100);
	put_word(BASE + 0x100, BASE + 0x200);
	put(BASE + 0x108, 1, sizeof(__u16));
	put_word(BASE + 0x200, BASE + 0x300);
	put(BASE + 0x208, 2, sizeof(__u16));
	put_word(BASE + 0x218, BASE + 0x400);
	put_word(BASE + 0x220, BASE + 0x440);
	put_word(BASE + 0x300, BASE + 0x480);
	put_word(BASE + 0x308, BASE + 0x200);
	java_symbol(BASE + 0x400, "total");
	java_symbol(BASE + 0x440, "Shop.java");
	java_symbol(BASE + 0x480, "org/example/Shop");
}

/* A blob that has called at byte 16 of its code, in a method that was put into itself. */
static void java_blob(__u64 blob)
{
	put_word(blob + 8, BASE + 0x800);
	put_word(blob + 16, CODE);
	put_word(blob + 24, blob + 0x100);
	put(blob + 32, 9, sizeof(__u32));
	put(blob + 36, 0x40, sizeof(__u32));
	put(blob + 40, 0x60, sizeof(__u32));
	put(blob + 44, 0x80, sizeof(__u32));
	put_word(blob + 48, BASE + 0x900);
	put(blob + 0x40, 16, sizeof(__u32));
	put(blob + 0x44, 1, sizeof(__u32));
	put(blob + 0x50, 32, sizeof(__u32));
	put(blob + 0x54, 8, sizeof(__u32));
	put_word(blob + 0x80, CODE);
	put_text(BASE + 0x800, "nmethod");
	put_text(BASE + 0x901, "\x08\x01"); /* its caller's scope, and its method */
	put(BASE + 0x909, 1, 1);            /* the outer one, in none */
}

static void java_code(void)
{
	const __u64 blob = BASE + 0x500;
	struct names_input input = {.compiled.java = java_layout(), .address = CODE, .right = 1};

	java_method();
	write_seed("java-method", &input);
	input.address = blob | JAVA_PAIR_CALL;
	input.check = 9ULL << JAVA_CALL_SHIFT | (0x100 + 16);
	for (input.depth = 0; input.depth < 2; input.depth++) {
		java_method();
		java_blob(blob);
		write_seed(input.depth ? "java-outer" : "java-inner", &input);
	}
	input.depth = 0;
	input.address = blob | JAVA_PAIR_BLOB;
	java_blob(blob);
	write_seed("java-blob", &input);
}

/* Objects of V8 have this in their address. */
#define TAGGED(address) ((address) + 1)
#define NODE_TYPE       12 /* byte of a map */

static void node_object(__u64 object, __u16 type)
{
	const __u64 map = BASE + 0xe00 + 16ULL * (type % 32);

	put_word(object, TAGGED(map));
	put(map + NODE_TYPE, type, sizeof(type));
}

static void node_text_of(__u64 object, const char *text)
{
	node_object(object, 40);
	put(object + 12, strlen(text), sizeof(__u32));
	put_text(object + 16, text);
}

static void node_info(__u64 object)
{
	node_object(object, 262);
	put_word(object + 16, TAGGED(BASE + 0x100));
	put_word(object + 32, TAGGED(BASE + 0x200));
}

static void node_function(void)
{
	node_info(CODE);
	node_object(BASE + 0x100, 261);
	put_word(BASE + 0x108, (2ULL | 1U << 12) << 32); /* a function with a name */
	put_word(BASE + 0x120, TAGGED(BASE + 0x300));
	node_object(BASE + 0x200, 167);
	put_word(BASE + 0x210, TAGGED(BASE + 0x400));
	node_text_of(BASE + 0x300, "total");
	node_object(BASE + 0x400, 41); /* of two parts */
	put_word(BASE + 0x410, TAGGED(BASE + 0x500));
	put_word(BASE + 0x418, TAGGED(BASE + 0x600));
	node_text_of(BASE + 0x500, "/srv/");
	node_text_of(BASE + 0x600, "shop.js");
}

static void put_bytes(__u64 address, const __u8 *from, size_t size)
{
	memcpy(bytes + address % MEMORY_WINDOW, from, size);
}

/* An array of so many elements, or bytes. */
static void node_array(__u64 object, __u16 type, __u32 length)
{
	node_object(object, type);
	put(object + 12, length, sizeof(length));
}

/* Where V8 11.3 has code, and what is beside it. */
#define NODE_START    (BASE + 0x840)
#define NODE_SIZE     0x60
#define NODE_CALLED   0x15 /* byte of the code: a call returns there */
#define NODE_LOOP     0x20
#define NODE_CODE     (BASE + 0x900)
#define NODE_DEOPT    (BASE + 0x980)
#define NODE_CHANGES  (BASE + 0xa20)
#define NODE_LITERALS (BASE + 0xa60)
#define NODE_INNER    (BASE + 0x700)

/* A loop of the function that was put into another one; before it that one calls. */
static void node_instructions(void)
{
	static const __u8 call[] = {0xe8, 0, 0, 0, 0};
	static const __u8 loop_end[] = {0x49, 0x3b, 0x65, 0xa0, 0x77, 0xda, 0xeb, 0x08};
	static const __u8 points[] = {2, 0, 0, 0, 0x91, 0, 0, 0, NODE_CALLED, 1, 0, 0x55, 1, 0};

	node_object(NODE_START - 16, 252);
	put_word(NODE_START - 8, TAGGED(NODE_CODE));
	put_bytes(NODE_START + NODE_CALLED - sizeof(call), call, sizeof(call));
	put_bytes(NODE_START + NODE_LOOP + 32, loop_end, sizeof(loop_end));
	put_bytes(NODE_START + 0x50, call, sizeof(call));
	put_bytes(NODE_START + NODE_SIZE, points, sizeof(points));
}

static void node_compiled(void)
{
	static const __u8 changes[] = {2, 0, 4, 4, 24, 14, 0, 0, 31, 6, 24, 14, 2, 0, 31, 6};

	node_object(NODE_CODE, 245);
	put_word(NODE_CODE + 16, TAGGED(NODE_DEOPT));
	put_word(NODE_CODE + 32, TAGGED(NODE_START - 16));
	put_word(NODE_CODE + 40, NODE_START);
	put(NODE_CODE + 48, 13, sizeof(__u32));
	put(NODE_CODE + 56, NODE_SIZE, sizeof(__u32));
	put(NODE_CODE + 60, 0x20, sizeof(__u32));
	node_array(NODE_DEOPT, 175, 14);
	put_word(NODE_DEOPT + 16, TAGGED(NODE_CHANGES));
	put_word(NODE_DEOPT + 32, TAGGED(NODE_LITERALS));
	put_word(NODE_DEOPT + 64, TAGGED(CODE));
	node_array(NODE_CHANGES, 190, sizeof(changes));
	put_bytes(NODE_CHANGES + 16, changes, sizeof(changes));
	node_array(NODE_LITERALS, 240, 2);
	put_word(NODE_LITERALS + 16, TAGGED(CODE));
	put_word(NODE_LITERALS + 24, TAGGED(NODE_INNER));
	node_info(NODE_INNER);
}

static void node_code(void)
{
	struct names_input input = {.compiled.node = {.function = 2066,
						      .info = 262,
						      .scope = 261,
						      .script = 167,
						      .info_scope = 16,
						      .info_script = 32,
						      .info_parameters = 42,
						      .script_name = 16,
						      .scope_locals = 32,
						      .scope_smi = 1,
						      .scope_function = 2,
						      .version = NODE_V8_11_3},
				    .address = TAGGED(CODE),
				    .right = 1};

	node_function();
	write_seed("node", &input);
	input.is_inner = 1;
	for (int i = 0; i < 2; i++) {
		node_function();
		node_instructions();
		node_compiled();
		input.address = i ? (NODE_START + NODE_LOOP + 2) | NODE_PAIR_EXACT
				  : NODE_START + NODE_CALLED;
		write_seed(i ? "node-loop" : "node-call", &input);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	folder = argv[1];
	python_code(PYTHON_CODE_3_10);
	python_code(PYTHON_CODE_3_11);
	python_code(PYTHON_CODE_3_12);
	ruby_code(RUBY_CODE_3_1);
	ruby_code(RUBY_CODE_3_3);
	java_code();
	node_code();
	return 0;
}
