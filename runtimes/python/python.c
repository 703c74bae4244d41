// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/machine_code.h"
#include "runtimes/python/python.h"
#include "runtimes/python/code.h"
#include "runtimes/python/offsets.h"
#include "runtimes/python/methods.h"
#include "runtimes/python/steps.h"

#define CODE_SIZE 48 /* bytes of PyGILState_GetThisThreadState */
#define STUB_SIZE 16 /* bytes of a stub that calls a function of another file */

/* The interpreter, if it is no program, and its modules. */
enum python_file {
	PYTHON_INTERPRETER,
	PYTHON_ASYNCIO,  /* the module _asyncio */
	PYTHON_QUEUE,    /* the module _queue */
	PYTHON_UVLOOP,   /* the module uvloop.loop */
	PYTHON_GREENLET, /* the module greenlet._greenlet */
};

const struct subject_wanted python_wanted[PYTHON_WANTED] = {
    [PYTHON_INTERPRETER] = {.prefix = "libpython3."}, [PYTHON_ASYNCIO] = {.prefix = "_asyncio."},
    [PYTHON_QUEUE] = {.prefix = "_queue."},           [PYTHON_UVLOOP] = {.prefix = "loop.cpython-"},
    [PYTHON_GREENLET] = {.prefix = "_greenlet."},
};

/* Methods that are watched in modules. */
static const struct method {
	const char *name;
	enum python_file file;
	enum python_probe probe;
} methods[] = {
    {"set_result", PYTHON_ASYNCIO, PYTHON_WOKEN}, {"put", PYTHON_QUEUE, PYTHON_PUT},
    {"put_nowait", PYTHON_QUEUE, PYTHON_PUT},     {"get", PYTHON_QUEUE, PYTHON_GOT},
    {"get_nowait", PYTHON_QUEUE, PYTHON_GOT},     {"get", PYTHON_QUEUE, PYTHON_ASKED},
    {"get_nowait", PYTHON_QUEUE, PYTHON_ASKED},   {"write", PYTHON_UVLOOP, PYTHON_WRITES},
    {"writelines", PYTHON_UVLOOP, PYTHON_WRITES},
};

/* The image that sites are looked for in. */
struct module {
	struct elf_image *image;
	struct python *python;
	enum python_file file;
	__u32 index; /* of the file in the subject */
	enum python_probe probe;
};

static int add_site(__u64 address, void *data)
{
	const struct module *module = data;

	return probe_sites_add(&module->python->sites, module->image, module->index, module->probe,
			       address);
}

/* A call that may make the context of a task: is it that, of PyContext_CopyCurrent? */
static int check_made(const struct python_made *made, void *data)
{
	const struct module *module = data;
	struct runtime_python *places = &module->python->runtime.python;
	__u8 stub[STUB_SIZE];
	__u64 slot;

	if (elf_image_read(module->image, made->called, stub, sizeof(stub)) ||
	    machine_code_slot(stub, sizeof(stub), made->called, &slot) ||
	    !elf_image_is_linked(module->image, slot, "PyContext_CopyCurrent"))
		return 0;
	if (places->task_offset) /* there should be one */
		return -ENOTSUP;
	places->task_offset = made->task_offset;
	places->task_register = made->task_register;
	return add_site(made->jump, data);
}

/* 0, or -ENOTSUP: tasks get their contexts in some way that is not known. */
static int find_made(struct module *module)
{
	struct elf_section text;
	int err;

	if (elf_image_section(module->image, ".text", &text))
		return -ENOTSUP;
	module->probe = PYTHON_MADE;
	err = python_code_each_made(text.data, text.size, text.address, check_made, module);
	return err || !module->python->runtime.python.task_offset ? -ENOTSUP : 0;
}

/* 0, or -ENOTSUP: it lacks a method that is wanted. */
static int find_methods(struct module *module)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		module->probe = methods[i].probe;
		if (methods[i].file == module->file &&
		    python_methods_each(module->image, methods[i].name, add_site, module) <= 0)
			return -ENOTSUP;
	}
	return 0;
}

/* 0, or -ENOTSUP: uvloop enters contexts, or is called by libuv, in some way that is not known. */
static int find_calls(struct module *module)
{
	__u64 enters, called;
	struct elf_section text;

	if (elf_image_symbol(module->image, "Context_Enter", &enters) ||
	    python_steps_stub(module->image, "PyGILState_Ensure", &called) ||
	    elf_image_section(module->image, ".text", &text))
		return -ENOTSUP;
	module->probe = PYTHON_ENTERS;
	if (add_site(enters, module))
		return -ENOTSUP;
	module->probe = PYTHON_CALLED;
	return python_code_each_call(text.data, text.size, text.address, called, add_site, module);
}

/* Where PyTypeObject has them. */
#define TYPE_FREES 48
#define TYPE_INIT  296

/* Thread-local variables of the module, in bytes: see GREENLET_WORDS. */
#define GREENLET_TLS_SIZE (GREENLET_WORDS * sizeof(__u64))

/* One of the type's functions. 0, -ENOENT or -E2BIG. */
static int add_greenlets(struct module *module, __u64 where, enum python_probe probe)
{
	__u64 address;

	if (elf_image_relocation(module->image, where, &address))
		return -ENOENT;
	module->probe = probe;
	return add_site(address, module);
}

/* 0, or -ENOTSUP: threads have their greenlets in some way that is not known. (Before 2.0.) */
static int find_greenlets(struct module *module, __u64 bias)
{
	__u64 type, slot, size;

	if (elf_image_symbol(module->image, "PyGreenlet_Type", &type) ||
	    elf_image_tls_size(module->image, &size) || size != GREENLET_TLS_SIZE ||
	    elf_image_named_relocation(module->image, R_X86_64_DTPMOD64, "", &slot) ||
	    add_greenlets(module, type + TYPE_INIT, PYTHON_GREENLET_MADE) ||
	    add_greenlets(module, type + TYPE_FREES, PYTHON_GREENLET_FREED))
		return -ENOTSUP;
	module->python->runtime.python.greenlets = slot + bias;
	return 0;
}

/* Where work begins and ends. Of a module that has it in some other way nothing is shown. */
static void find_steps(struct module *module)
{
	struct probe_sites *sites = &module->python->sites;

	if (module->file == PYTHON_ASYNCIO)
		python_steps_of_tasks(module->image, module->index, sites);
	if (module->file == PYTHON_GREENLET)
		python_steps_of_greenlets(module->image, module->index, sites);
}

static int look_into_module(struct module *module, __u64 bias)
{
	int err = 0;

	if (module->file == PYTHON_ASYNCIO)
		err = find_made(module);
	if (module->file == PYTHON_UVLOOP)
		err = find_calls(module);
	if (module->file == PYTHON_GREENLET)
		err = find_greenlets(module, bias);
	if (!err)
		err = find_methods(module);
	if (!err)
		find_steps(module);
	return err;
}

/*
 * If the process has loaded the module: its sites. 0, -ENOTSUP or -errno.
 *
 * Other modules may have uvloop's name, and greenlets be those of an old version. Without these,
 * all else is followed.
 */
static int look_at_module(const struct subject *subject, struct python *python,
			  enum python_file file)
{
	_cleanup_library_ struct library library = {};
	struct module module = {.python = python, .file = file};
	__u32 site_count = python->sites.count;
	int err = library_open(subject, python_wanted[file].prefix, &library);

	if (err)
		return err == -ENOENT ? 0 : err;
	module.image = library.image;
	module.index = library.file;
	err = look_into_module(&module, library.bias);
	if (!err || file < PYTHON_UVLOOP)
		return err;
	python->sites.count = site_count;
	return 0;
}

/* Modules' own names tell the version of interpreters that have no Py_Version. */
static unsigned int minor_of_name(const char *name)
{
	const char *at = strstr(name, "python3.");

	return at ? (unsigned int)strtoul(at + strlen("python3."), NULL, 10) : 0;
}

static unsigned int minor_of(struct elf_image *image, const char *name)
{
	__u64 address;
	__u32 version;

	if (elf_image_symbol(image, "Py_Version", &address) ||
	    elf_image_read(image, address, &version, sizeof(version)))
		return minor_of_name(name);
	return version >> 24 == 3 ? version >> 16 & 0xff : 0;
}

/* Where threads have their state, and what they run in. `bias`: how far it was moved. */
static int look_at_interpreter(struct elf_image *image, __u64 bias, struct python *python)
{
	struct runtime_python *places = &python->runtime.python;
	__u64 state, runtime;
	__u8 code[CODE_SIZE];

	if (elf_image_symbol(image, "PyGILState_GetThisThreadState", &state) ||
	    elf_image_symbol(image, "_PyRuntime", &runtime) ||
	    elf_image_read(image, state, code, sizeof(code)) ||
	    python_code_key(code, sizeof(code), state, runtime, &places->key))
		return -ENOTSUP;
	places->key += bias;
	return python_layout_fill(python->minor, places);
}

/* The interpreter is a shared library, or the program itself. */
struct interpreter {
	struct library library; /* empty: the program */
	struct elf_image *image;
	__u64 bias;
	const char *name; /* of the file */
	__u32 file;       /* its index in the subject */
};

static int open_library(const struct subject *subject, struct interpreter *ret)
{
	int err = library_open(subject, python_wanted[PYTHON_INTERPRETER].prefix, &ret->library);

	if (err)
		return err;
	ret->image = ret->library.image;
	ret->bias = ret->library.bias;
	ret->file = ret->library.file;
	ret->name = subject->file[ret->file].name;
	return 0;
}

static int open_program(const struct subject *subject, struct elf_image *image,
			struct interpreter *ret)
{
	ret->image = image;
	ret->file = SUBJECT_PROGRAM;
	ret->name = subject->file[ret->file].name;
	return library_program_bias(subject, elf_image_entry(image), &ret->bias);
}

/*
 * The methods of deques by which queue.Queue puts and takes, or none of them. In the table of
 * methods `append` stands before `appendleft`, which no other type has.
 */
static void find_deque(const struct interpreter *interpreter, struct python *python)
{
	struct module module = {.image = interpreter->image,
				.python = python,
				.index = interpreter->file,
				.probe = PYTHON_APPENDS};
	const __u32 site_count = python->sites.count;
	int appends, pops, popped;

	appends =
	    python_methods_each_before(module.image, "append", "appendleft", add_site, &module);
	module.probe = PYTHON_POPS;
	pops = python_methods_each(module.image, "popleft", add_site, &module);
	module.probe = PYTHON_POPPED;
	popped = python_methods_each(module.image, "popleft", add_site, &module);
	if (appends != 1 || pops != 1 || popped != 1)
		python->sites.count = site_count;
}

static int look_at_all(const struct subject *subject, const struct interpreter *interpreter,
		       struct python *python, enum why *ret_why)
{
	int err;

	*ret_why = WHY_PROCESSOR;
	if (elf_image_machine(interpreter->image) != EM_X86_64)
		return -ENOTSUP;
	*ret_why = WHY_VERSION;
	python->minor = minor_of(interpreter->image, interpreter->name);
	if (!python_layout_is_known(python->minor))
		return -ENOTSUP;
	*ret_why = WHY_PYTHON_BUILD;
	python->runtime.kind = RUNTIME_PYTHON;
	err = look_at_interpreter(interpreter->image, interpreter->bias, python);
	for (int file = PYTHON_ASYNCIO; !err && file < PYTHON_WANTED; file++)
		err = look_at_module(subject, python, file);
	/* Behind all that is needed: nothing is lost if there is no more room. */
	if (!err && python->sites.count) {
		find_deque(interpreter, python);
		python_steps_of_contexts(interpreter->image, interpreter->file, &python->sites);
	}
	if (!err)
		*ret_why = WHY_NONE;
	return err;
}

int python_inspect(const struct subject *subject, struct elf_image *image,
		   struct python *ret_python, enum why *ret_why)
{
	struct interpreter interpreter = {};
	__u64 address;
	int err;

	*ret_python = (struct python){};
	if (!elf_image_symbol(image, "PyGILState_GetThisThreadState", &address))
		err = open_program(subject, image, &interpreter);
	else
		err = open_library(subject, &interpreter);
	if (!err)
		err = look_at_all(subject, &interpreter, ret_python, ret_why);
	library_close(&interpreter.library);
	return err;
}
