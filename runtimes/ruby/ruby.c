// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "inspect/library.h"
#include "inspect/machine_code.h"
#include "runtimes/ruby/ruby.h"

#define VERSION_SYMBOL "ruby_api_version"
#define CONTEXT_SYMBOL "ruby_current_ec" /* thread-local: the address of the execution context */
#define THREAD_SYMBOL  "rb_cThread"
#define CODE_SIZE      64 /* bytes of a function that are looked at */
#define VERSION_MIN    207
#define VERSION_MAX    304 /* the last one whose execution contexts and frames are known */

const struct subject_wanted ruby_wanted[RUBY_WANTED] = {{.prefix = "libruby"}};

static int read_version(struct elf_image *image, struct ruby *ruby)
{
	__u64 address;
	__s32 api[3];

	if (elf_image_symbol(image, VERSION_SYMBOL, &address) ||
	    elf_image_read(image, address, api, sizeof(api)))
		return -ENOENT;
	ruby->major = (unsigned int)api[0];
	ruby->minor = (unsigned int)api[1];
	return 0;
}

/* The thread-local variable that an exported function asks for first; 0: that is not known. */
static __u64 slot_asked_for(struct elf_image *image, const char *function)
{
	__u8 code[CODE_SIZE];
	__u64 start, end, slot;

	if (elf_image_symbol_range(image, function, &start, &end))
		return 0;
	if (end - start > sizeof(code))
		end = start + sizeof(code);
	if (elf_image_read(image, start, code, end - start) ||
	    machine_code_variable(code, end - start, start, &slot) ||
	    !elf_image_has_relocation(image, R_X86_64_DTPMOD64, slot))
		return 0;
	return slot;
}

/*
 * From Ruby 3.3 on the context is the library's own, without a name. Two functions that do nothing
 * but read a member of it must agree on where it is.
 */
static int find_own_context(struct elf_image *image, __u64 *ret_slot)
{
	*ret_slot = slot_asked_for(image, "rb_thread_current");
	return *ret_slot && *ret_slot == slot_asked_for(image, "rb_errinfo") ? 0 : -ENOTSUP;
}

/* Libraries ask for thread-local variables by two words that the dynamic linker fills in. */
static int look_at_library(struct elf_image *image, __u64 bias, struct ruby *ruby)
{
	__u64 slot;

	if (elf_image_named_relocation(image, R_X86_64_DTPMOD64, CONTEXT_SYMBOL, &slot) &&
	    find_own_context(image, &slot))
		return -ENOTSUP;
	ruby->runtime.ruby.slot = slot + bias;
	return 0;
}

/* Programs have theirs right below the thread pointer. */
static int look_at_program(struct elf_image *image, struct ruby *ruby)
{
	__u64 variable, size;

	if (elf_image_symbol(image, CONTEXT_SYMBOL, &variable) || elf_image_tls_size(image, &size))
		return -ENOTSUP;
	ruby->runtime.ruby.offset = (__s64)(variable - size);
	return 0;
}

static enum ruby_code_layout code_layout_of(unsigned int version)
{
	static const enum ruby_code_layout since_3_1[] = {RUBY_CODE_3_1, RUBY_CODE_3_2,
							  RUBY_CODE_3_3, RUBY_CODE_3_4};

	return version < 301 ? RUBY_CODE_3_0 : since_3_1[version - 301];
}

/* Where the interpreter is. */
struct interpreter {
	struct elf_image *image;
	__u32 file;
	__u64 bias;
	bool is_library;
};

static int look_at(const struct interpreter *interpreter, struct ruby *ruby, enum why *ret_why)
{
	struct elf_image *image = interpreter->image;
	unsigned int version = ruby->major * 100 + ruby->minor;

	*ret_why = WHY_PROCESSOR;
	if (elf_image_machine(image) != EM_X86_64)
		return -ENOTSUP;
	*ret_why = WHY_VERSION;
	if (version < VERSION_MIN || version > VERSION_MAX)
		return -ENOTSUP;
	*ret_why = WHY_RUBY_BUILD;
	ruby->runtime.kind = RUNTIME_RUBY;
	if (interpreter->is_library ? look_at_library(image, interpreter->bias, ruby)
				    : look_at_program(image, ruby))
		return -ENOTSUP;
	if (elf_image_symbol(image, THREAD_SYMBOL, &ruby->runtime.ruby.thread_class))
		return -ENOTSUP;
	ruby->runtime.ruby.thread_class += interpreter->bias;
	ruby->runtime.ruby.code_layout = code_layout_of(version);
	*ret_why =
	    ruby_queues_find(image, interpreter->file, &ruby->sites) ? WHY_RUBY_QUEUES : WHY_NONE;
	return 0;
}

static int inspect_library(const struct subject *subject, struct ruby *ruby, enum why *ret_why)
{
	_cleanup_library_ struct library library = {};
	int err = library_open(subject, ruby_wanted[0].prefix, &library);
	struct interpreter interpreter = {
	    .image = library.image, .file = library.file, .bias = library.bias, .is_library = true};

	if (!err)
		err = read_version(library.image, ruby);
	return err ? err : look_at(&interpreter, ruby, ret_why);
}

int ruby_inspect(const struct subject *subject, struct elf_image *image, struct ruby *ret_ruby,
		 enum why *ret_why)
{
	struct interpreter program = {.image = image, .file = SUBJECT_PROGRAM};
	int err;

	*ret_ruby = (struct ruby){};
	if (read_version(image, ret_ruby))
		return inspect_library(subject, ret_ruby, ret_why);
	err = library_program_bias(subject, elf_image_entry(image), &program.bias);
	return err ? err : look_at(&program, ret_ruby, ret_why);
}
