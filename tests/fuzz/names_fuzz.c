// SPDX-License-Identifier: Apache-2.0
/*
 * Names of functions out of memory of strangers, a program for each runtime (KIND). What is read is
 * a text as it has to be, and it takes no more reads than are allowed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/process_memory.h"
#include "memory.h"
#include "names_input.h"
#include "profile/names/runtime_text.h"
#include "runtimes/names.h"
#include "runtimes/node/code_object.h"
#include "runtimes/node/text.h"
#include "runtimes/python/code_layout.h"
#include "runtimes/ruby/class.h"
#include "runtimes/ruby/code_layout.h"
#include "runtimes/runtime.h"

/* As the sampler packs code and class that stand there, with the right check word. */
static void pack_ruby(struct named_code *code)
{
	struct ruby_named named = ruby_unpack(code->address, code->check);
	const __u64 body = process_memory_u64(-1, named.code + RUBY_CODE_BODY);

	named.check = body;
	for (__u64 i = 0; i < RUBY_BODY_WORDS; i++)
		named.check =
		    ruby_check_add(named.check, process_memory_u64(-1, body + i * sizeof(__u64)));
	if (named.owner)
		named.check = ruby_class_check(-1, named.owner, code->layout, named.check);
	code->address = ruby_first_word(&named);
	code->check = ruby_second_word(&named);
}

static __u64 check_of_node(const struct node_code *code, __u64 info)
{
	return node_check(node_word(-1, info, code->info_scope),
			  node_word(-1, info, code->info_script),
			  (__u32)node_word(-1, info, code->info_parameters));
}

/* Of an instruction, if it is code that is understood. */
static __u64 check_of_node_inner(const struct node_code *code, __u64 address)
{
	const __u64 pc = address & ~NODE_PAIR_EXACT;
	__u64 around[NODE_AROUND_WORDS];
	struct node_object object;

	if (!node_object_find(-1, code, address & NODE_PAIR_EXACT ? pc : pc - 1, &object) ||
	    process_memory_read(-1, pc - NODE_AROUND_BEFORE, around, sizeof(around)))
		return 0;
	return node_check_inner(around, object.info, check_of_node(code, object.info));
}

static __u64 check_of_java(const struct java_code *code, __u64 address)
{
	if (address & JAVA_PAIR_BLOB)
		return process_memory_u64(-1, (address & ~JAVA_PAIR_BLOB) + code->name);
	return process_memory_u64(-1, address + code->const_method);
}

/* What the sampler would have found there. */
static __u64 right_check(const struct names_input *input)
{
	switch (KIND) {
	case RUNTIME_NODE:
		if (input->is_inner & 1)
			return check_of_node_inner(&input->compiled.node, input->address);
		return check_of_node(&input->compiled.node, input->address);
	case RUNTIME_JAVA:
		return input->address & JAVA_PAIR_CALL
			   ? input->check
			   : check_of_java(&input->compiled.java, input->address);
	default:
		return process_memory_u64(-1, input->address + (input->layout == PYTHON_CODE_3_10
								    ? PYTHON_CODE_NAME_3_10
								    : PYTHON_CODE_NAME));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct named_code code = {.kind = KIND};
	char *text = malloc(NAMED_TEXT_MAX); /* so that the sanitizer sees who writes beyond */
	struct names_input input;
	struct runtime_text parts;
	int result;

	if (!text || size < sizeof(input)) {
		free(text);
		return 0;
	}
	memcpy(&input, data, sizeof(input));
	memory = (struct memory){data + sizeof(input), size - sizeof(input), 0, UINT32_MAX};
	code.address = input.address;
	code.layout = input.layout;
	code.check = input.check;
	if (input.right & 1 && KIND == RUNTIME_RUBY)
		pack_ruby(&code);
	else if (input.right & 1)
		code.check = right_check(&input);
	code.depth = input.depth;
	code.is_inner = input.is_inner & 1;
	code.compiled = &input.compiled;
	memory.reads = 0;
	memory.reads_max = NAMED_READS_MAX;
	result = runtime_names_of(KIND)->read(-1, &code, text);
	if (result > 1 || (result >= 0 && !runtime_text_parse(text, strlen(text) + 1, &parts)))
		abort();
	free(text);
	return 0;
}
