// SPDX-License-Identifier: Apache-2.0
/* Functions of JavaScript that were put into others, over code as V8 has it, built in this process. */
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

/* What a version of V8 has where, and what its operations are called. */
struct version {
	enum node_version number;
	__u16 stream, code, deopt, bytes, literals; /* types */
	__u8 header, deopt_at, size_at, flags_at, turbofan;
	__u8 literals_at, info_at, points_at; /* elements of DeoptimizationData */
	__u8 begin, function, value;          /* operations */
	__u8 function_more;                   /* numbers behind the function's literal */
};

static const struct version versions[] = {
    {NODE_V8_10_2, 240, 240, 179, 194, 237, 128, 16, 40, 48, 13, 2, 6, 11, 3, 18, 24, 3},
    {NODE_V8_11_3, 252, 245, 175, 190, 240, 16, 16, 56, 48, 13, 2, 6, 11, 2, 24, 31, 1},
    {NODE_V8_12_4, 210, 206, 213, 186, 247, 32, 8, 52, 48, 12, 2, 6, 11, 12, 1, 35, 1},
    {NODE_V8_13_6, 192, 187, 193, 196, 199, 32, 8, 56, 52, 12, 3, 7, 12, 14, 1, 40, 2},
};
static const struct version *v8;

#define PAGE      4096
#define CODE_SIZE 0xc0
#define METADATA  64
#define ELEMENTS  24
#define CHARS_MAX 16
#define MAPS      16
#define FUNCTIONS 3 /* the innermost first; the last one is whose code it is */

enum { INNER, MIDDLE, OUTER };

struct map {
	__u64 words[1];
	__u32 size;
	__u16 type;
};

struct text {
	__u64 map;
	__u32 hash, length;
	char chars[CHARS_MAX];
};

struct scope {
	__u64 map, flags, parameters, count, name, place;
};

struct script {
	__u64 map, source, name;
};

struct info {
	__u64 map, data, scope, feedback, script, parameters;
};

struct array {
	__u64 map, length;
	union {
		__u64 element[ELEMENTS * 3];
		__u8 byte[ELEMENTS];
	};
};

/* In pages of their own: what is before the code cannot be read, or is another code. */
static _Alignas(PAGE) struct {
	__u8 before[PAGE - 128];
	__u8 header[128];
	__u8 instruction[CODE_SIZE];
	__u8 metadata[PAGE - CODE_SIZE];
} memory_of_code;

static struct {
	_Alignas(8) struct map map[MAPS];
	size_t maps;
	__u8 code[128];
	struct array deopt, translations, literals;
	struct text name[FUNCTIONS], file;
	struct scope scope[FUNCTIONS];
	struct script script;
	struct info info[FUNCTIONS];
	__u64 wrapper[2];
} world;

static struct runtime_compiled compiled;

static __u64 map_of(__u16 type)
{
	struct map *map = &world.map[world.maps++];

	assert_true(world.maps <= MAPS);
	map->type = type;
	return TAGGED(map);
}

static void put(__u8 *object, __u32 at, __u64 value, size_t size)
{
	memcpy(object + at, &value, size);
}

/* The code's places, in bytes from its beginning. */
enum {
	CALLED = 0x15,       /* a call of the innermost function has returned there */
	CALLED_ELSE = 0x1a,  /* a call of which nothing is known */
	LOOP = 0x20,         /* asks by a byte */
	LOOP_END = 0x48,
	ASKED = 0x6c,        /* where the call of that loop's question returns to */
	LOOP_BY_STACK = 0x80,
	LOOP_BY_STACK_END = 0x98,
	ASKED_BY_STACK = 0xad,
};

static void set_code(void)
{
	static const __u8 call[] = {0xe8, 0, 0, 0, 0};
	static const __u8 loop_end[] = {0x41, 0x80, 0x7d, 0xb1, 0,    /* cmp byte [r13 - n], 0 */
					0x0f, 0x85, 0x1d, 0,	0, 0, /* jnz 0x60 */
					0x48, 0x89, 0xc3,	      /* mov rbx, rax */
					0xeb, 0xd8};		      /* jmp LOOP */
	static const __u8 ask[] = {0x48, 0xc7, 0xc0, 0,	   0,	 0,   0,      /* mov rax, 0 */
				   0xe8, 0,    0,    0,	   0,		      /* call */
				   0xe9, 0xd2, 0xff, 0xff, 0xff};	      /* jmp 0x43 */
	static const __u8 by_stack_end[] = {0x49, 0x3b, 0x65, 0xa0, /* cmp rsp, [r13 - n] */
					    0x77, 0xea,		    /* ja LOOP_BY_STACK */
					    0xeb, 0x10};	    /* jmp 0xa8 */
	__u8 *code = memory_of_code.instruction;

	memset(code, 0x90, CODE_SIZE);
	memcpy(code + CALLED - sizeof(call), call, sizeof(call));
	memcpy(code + CALLED_ELSE - sizeof(call), call, sizeof(call));
	memcpy(code + LOOP_END - sizeof(loop_end), loop_end, sizeof(loop_end));
	memcpy(code + 0x60, ask, sizeof(ask));
	memcpy(code + LOOP_BY_STACK_END - sizeof(by_stack_end), by_stack_end, sizeof(by_stack_end));
	memcpy(code + ASKED_BY_STACK - sizeof(call), call, sizeof(call));
}

/* Places that calls return to, and their points. */
static void set_points(void)
{
	static const __u8 entries[][3] = {{CALLED, 1, 0},
					  {CALLED_ELSE, 0, 0},
					  {ASKED, 2, 0},
					  {ASKED_BY_STACK, 2, 0}};
	__u8 *at = memory_of_code.metadata;

	at += v8->number == NODE_V8_13_6 ? sizeof(__u32) : 0;
	put(at, 0, sizeof(entries) / sizeof(entries[0]), sizeof(__u32));
	put(at, 4, 1 | 1U << 4 | 1U << 7, sizeof(__u32)); /* one byte for each number */
	memcpy(at + 8, entries, sizeof(entries));
}

static __u8 *next_op(__u8 *at, __u8 op)
{
	*at = v8->number == NODE_V8_10_2 ? (__u8)(2 * op) : op;
	return at + 1;
}

static __u8 *begin(__u8 *at, __u8 back, __u8 functions)
{
	at = next_op(at, v8->begin);
	if (v8->number != NODE_V8_10_2)
		*at++ = back;
	*at++ = (__u8)(2 * functions);
	*at++ = (__u8)(2 * functions);
	if (v8->number == NODE_V8_10_2)
		*at++ = 0;
	return at;
}

/* A frame of a function, whose number is that of its literal, with one value. */
static __u8 *frame(__u8 *at, __u8 function)
{
	at = next_op(at, v8->function);
	*at++ = 14; /* a place in its bytecode */
	*at++ = (__u8)(2 * function);
	for (int i = 0; i < v8->function_more; i++)
		*at++ = 0;
	at = next_op(at, v8->value);
	*at++ = 6;
	return at;
}

/* At point 0 it is in all functions, at point 1 in the two outer ones. Returns where that begins. */
static __u32 set_translations(void)
{
	static const __u8 operations[] = {[NODE_V8_11_3] = 36, [NODE_V8_12_4] = 40,
					  [NODE_V8_13_6] = 45};
	__u8 *const first = world.translations.byte;
	__u8 *second = frame(frame(frame(begin(first, 0, 3), OUTER), MIDDLE), INNER), *at;

	at = begin(second, (__u8)(second - first), 2);
	if (v8->number == NODE_V8_10_2)
		at = frame(frame(at, OUTER), MIDDLE);
	else
		*at++ = (__u8)(operations[v8->number] + 4); /* as many as before */
	world.translations.map = map_of(v8->bytes);
	world.translations.length = SMI(at - first);
	assert_true((size_t)(at - first) <= sizeof(world.translations.element));
	return (__u32)(second - first);
}

static void set_deopt(__u32 second)
{
	__u64 *element = world.deopt.element;

	world.deopt.map = map_of(v8->deopt);
	world.deopt.length = SMI(v8->points_at + 6);
	element[0] = TAGGED(&world.translations);
	element[v8->literals_at] = TAGGED(&world.literals);
	world.wrapper[1] = TAGGED(&world.info[OUTER]);
	element[v8->info_at] =
	    v8->number == NODE_V8_13_6 ? TAGGED(world.wrapper) : TAGGED(&world.info[OUTER]);
	element[v8->points_at + 1] = SMI(0);
	element[v8->points_at + 4] = SMI(second);
	world.literals.map = map_of(v8->literals);
	world.literals.length = SMI(FUNCTIONS);
	for (int i = 0; i < FUNCTIONS; i++)
		world.literals.element[i] = TAGGED(&world.info[i]);
}

static __u8 *code_object(void)
{
	return v8->number == NODE_V8_10_2 ? memory_of_code.header : world.code;
}

static void set_objects(void)
{
	__u8 *header = memory_of_code.instruction - v8->header, *code;

	put(header, 0, map_of(v8->stream), sizeof(__u64));
	code = code_object();
	if (v8->number != NODE_V8_10_2) {
		put(header, 8, TAGGED(code), sizeof(__u64));
		put(code, 0, map_of(v8->code), sizeof(__u64));
		put(code, 32, TAGGED(header), sizeof(__u64));
		put(code, 40, (uintptr_t)memory_of_code.instruction, sizeof(__u64));
	} else {
		put(header, 8, TAGGED(&world.translations), sizeof(__u64)); /* some object */
	}
	put(code, v8->deopt_at, TAGGED(&world.deopt), sizeof(__u64));
	put(code, v8->size_at, CODE_SIZE, sizeof(__u32));
	put(code, v8->size_at + 4U, METADATA, sizeof(__u32));
	put(code, v8->flags_at, 0x170U | v8->turbofan, sizeof(__u32));
}

static void set_text(struct text *text, __u64 map, const char *chars)
{
	text->map = map;
	text->length = (__u32)strlen(chars);
	memcpy(text->chars, chars, text->length);
}

static void set_functions(void)
{
	static const char *const names[FUNCTIONS] = {"inner", "middle", "outer"};
	const __u64 text = map_of(40), scope = map_of(261), info = map_of(262);

	set_text(&world.file, text, "/srv/burn.js");
	world.script = (struct script){map_of(167), 0, TAGGED(&world.file)};
	for (int i = 0; i < FUNCTIONS; i++) {
		set_text(&world.name[i], text, names[i]);
		world.scope[i] = (struct scope){.map = scope,
						.flags = SMI(2U | 1U << 12),
						.name = TAGGED(&world.name[i])};
		world.info[i] = (struct info){.map = info,
					      .scope = TAGGED(&world.scope[i]),
					      .script = TAGGED(&world.script),
					      .parameters = 7};
	}
}

static int build(void **state)
{
	(void)state;
	memset(&world, 0, sizeof(world));
	memset(&memory_of_code, 0, sizeof(memory_of_code));
	compiled = (struct runtime_compiled){
	    .life = 1,
	    .node = {.function = 2066,
		     .info = 262,
		     .scope = 261,
		     .script = 167,
		     .info_scope = offsetof(struct info, scope),
		     .info_script = offsetof(struct info, script),
		     .info_parameters = offsetof(struct info, parameters),
		     .script_name = offsetof(struct script, name),
		     .scope_locals = offsetof(struct scope, name),
		     .scope_smi = 1,
		     .scope_function = 2,
		     .version = (__u8)v8->number}};
	set_functions();
	set_code();
	set_points();
	set_deopt(set_translations());
	set_objects();
	return 0;
}

/* The check word of what stands there now. */
static __u64 check_at(__u32 place)
{
	const struct info *info = &world.info[OUTER];
	__u64 around[NODE_AROUND_WORDS];

	memcpy(around, memory_of_code.instruction + place - NODE_AROUND_BEFORE, sizeof(around));
	return node_check_inner(around, TAGGED(info),
				node_check(info->scope, info->script, (__u32)info->parameters));
}

static int read_checked(__u32 place, bool is_exact, __u8 depth, __u64 check, char *ret_text)
{
	_cleanup_close_ int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	const struct named_code code = {
	    .address = (uintptr_t)(memory_of_code.instruction + place) |
		       (is_exact ? NODE_PAIR_EXACT : 0),
	    .check = check,
	    .compiled = &compiled,
	    .depth = depth,
	    .is_inner = true};

	assert_true(memory >= 0);
	return node_names.read(memory, &code, ret_text);
}

static int read_at(__u32 place, bool is_exact)
{
	char text[NAMED_TEXT_MAX];

	return read_checked(place, is_exact, 0, check_at(place), text);
}

static void assert_reads(__u32 place, bool is_exact, __u8 depth, int result, const char *wanted)
{
	char text[NAMED_TEXT_MAX];

	assert_int_equal(read_checked(place, is_exact, depth, check_at(place), text), result);
	assert_string_equal(text, wanted);
}

static void where_it_has_called(void **state)
{
	(void)state;
	assert_reads(CALLED, false, 0, 1, "inner\n/srv/burn.js");
	assert_reads(CALLED, false, 1, 0, "middle\n/srv/burn.js");
	assert_int_equal(read_at(CALLED_ELSE, false), -ENOENT);
	/* The instruction that runs there has not called. */
	assert_int_equal(read_at(CALLED, true), -ENOENT);
}

static void where_it_runs(void **state)
{
	(void)state;
	for (__u32 place = LOOP; place < LOOP_END; place++)
		assert_reads(place, true, 0, 0, "middle\n/srv/burn.js");
	for (__u32 place = LOOP_BY_STACK; place < LOOP_BY_STACK_END - 2; place++)
		assert_reads(place, true, 0, 0, "middle\n/srv/burn.js");
	assert_int_equal(read_at(LOOP - 1, true), -ENOENT);
	assert_int_equal(read_at(LOOP_END, true), -ENOENT);
}

/* A call that is no point is known by its loop, too. */
static void where_it_has_called_in_a_loop(void **state)
{
	(void)state;
	assert_reads(LOOP + 5, false, 0, 0, "middle\n/srv/burn.js");
	assert_int_equal(read_at(LOOP, false), -ENOENT);
}

static void assert_no_loop(void)
{
	assert_int_equal(read_at(LOOP, true), -ENOENT);
}

static void what_is_no_loop(void **state)
{
	__u8 *code = memory_of_code.instruction;

	(void)state;
	code[LOOP_END - 1] = 0x10; /* it goes on elsewhere */
	assert_no_loop();
	build(NULL);
	code[LOOP_END - 5] = 0x74; /* there may be another question in between */
	code[LOOP_END - 4] = 0;
	assert_no_loop();
	build(NULL);
	code[LOOP_END - 5] = 0x06; /* no instruction */
	assert_no_loop();
	build(NULL);
	code[0x67] = 0xe9; /* what the question leads to does not call */
	assert_no_loop();
	build(NULL);
	memory_of_code.metadata[(v8->number == NODE_V8_13_6 ? 12 : 8) + 6]++; /* no point there */
	assert_no_loop();
}

/* The garbage collector has put something else there, or it was compiled anew. */
static void another_code_at_its_place(void **state)
{
	const __u64 check = check_at(CALLED);
	char text[NAMED_TEXT_MAX];

	(void)state;
	memory_of_code.instruction[CALLED + 9] ^= 1;
	assert_int_equal(read_checked(CALLED, false, 0, check, text), -ESTALE);
	build(NULL);
	world.info[OUTER].scope += 8;
	assert_int_equal(read_checked(CALLED, false, 0, check, text), -ESTALE);
	build(NULL);
	world.deopt.element[v8->info_at] = TAGGED(&world.info[MIDDLE]);
	world.wrapper[1] = TAGGED(&world.info[MIDDLE]);
	world.deopt.element[v8->info_at] =
	    v8->number == NODE_V8_13_6 ? TAGGED(world.wrapper) : TAGGED(&world.info[MIDDLE]);
	assert_int_equal(read_checked(CALLED, false, 0, check, text), -ESTALE);
}

static void assert_unknown(void)
{
	assert_int_equal(read_at(CALLED, false), -ENOENT);
}

static void what_is_no_code(void **state)
{
	(void)state;
	put(code_object(), v8->flags_at, 0x170U | (v8->turbofan - 2U), sizeof(__u32)); /* baseline */
	assert_unknown();
	build(NULL);
	put(code_object(), v8->size_at, CALLED - 1, sizeof(__u32)); /* it ends before */
	assert_unknown();
	build(NULL);
	if (v8->number != NODE_V8_10_2) {
		put(world.code, 40, 0, sizeof(__u64)); /* of other instructions */
		assert_unknown();
		build(NULL);
		put(world.code, 32, TAGGED(world.code), sizeof(__u64));
		assert_unknown();
		build(NULL);
	}
	world.deopt.length = 0; /* it is not to be used any more */
	assert_unknown();
	build(NULL);
	compiled.node.version = NODE_VERSIONS;
	assert_unknown();
	compiled.node.version = NODE_V8_OTHER;
	assert_unknown();
}

static void what_makes_no_sense(void **state)
{
	__u8 *translation = world.translations.byte;
	const __u32 frames = v8->number == NODE_V8_10_2 ? 1 : 2;

	(void)state;
	translation[frames] += 2; /* one more of all frames */
	assert_unknown();
	build(NULL);
	translation[frames + 1] += 2; /* of those of functions */
	assert_unknown();
	build(NULL);
	translation[0] = (__u8)(v8->number == NODE_V8_10_2 ? 2 * v8->value : v8->value);
	assert_unknown();
	build(NULL);
	world.translations.length = SMI(7); /* it is not all there */
	assert_unknown();
	build(NULL);
	world.translations.map = world.literals.map;
	assert_unknown();
	build(NULL);
	world.literals.element[OUTER] = TAGGED(&world.info[MIDDLE]);
	assert_unknown();
	build(NULL);
	world.literals.element[MIDDLE] = TAGGED(&world.script); /* no function */
	assert_unknown();
	build(NULL);
	world.literals.length = SMI(1);
	assert_unknown();
	build(NULL);
	world.deopt.element[v8->points_at + 1] = SMI(1);
	assert_unknown();
}

static void a_table_that_makes_no_sense(void **state)
{
	__u8 *table = memory_of_code.metadata + (v8->number == NODE_V8_13_6 ? 4 : 0);

	(void)state;
	put(table, 0, 1U << 30, sizeof(__u32)); /* more than there is room for */
	assert_unknown();
	build(NULL);
	put(table, 4, 1U << 4 | 1U << 7, sizeof(__u32)); /* without points */
	assert_unknown();
	build(NULL);
	put(table, 4, 1 | 7U << 4 | 1U << 7, sizeof(__u32));
	assert_unknown();
}

static int choose(void **state)
{
	static size_t next;

	(void)state;
	v8 = &versions[next++];
	return 0;
}

int main(void)
{
	static const char *const names[] = {"V8 10.2", "V8 11.3", "V8 12.4", "V8 13.6"};
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(where_it_has_called, build),
	    cmocka_unit_test_setup(where_it_runs, build),
	    cmocka_unit_test_setup(where_it_has_called_in_a_loop, build),
	    cmocka_unit_test_setup(what_is_no_loop, build),
	    cmocka_unit_test_setup(another_code_at_its_place, build),
	    cmocka_unit_test_setup(what_is_no_code, build),
	    cmocka_unit_test_setup(what_makes_no_sense, build),
	    cmocka_unit_test_setup(a_table_that_makes_no_sense, build),
	};
	int failed = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		failed |= cmocka_run_group_tests_name(names[i], tests, choose, NULL);
	return failed;
}
