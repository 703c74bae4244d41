// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "runtime/golang.h"
#include "runtime/golang_build.h"
#include "runtime/machine_code.h"
#include "runtime/pclntab.h"

#define MINOR_MIN 18
#define MINOR_MAX 27 /* the last one whose struct m is known */

#define CODE_MAX      (64 * 1024) /* bytes of a function that are looked at */
#define HEADER_PREFIX 8           /* magic number, zeros, sizes: the same for all tables */

/* Functions whose places are wanted: those that are probed, then others. */
enum function { NEWPROC = GOLANG_STARTED, RUNQPUT = GOLANG_PROBES, GOGO, FUNCTIONS };

static const char *const function_names[FUNCTIONS] = {
    [NEWPROC] = "runtime.newproc.func1",
    [GOLANG_WRITES] = "net/http.(*persistConn).writeLoop",
    [GOLANG_READS] = "net/http.(*persistConn).readLoop",
    [GOLANG_ROUND_TRIP] = "net/http.(*persistConn).roundTrip",
    [GOLANG_SEND] = "runtime.send",
    [GOLANG_RECEIVE] = "runtime.recv",
    [RUNQPUT] = "runtime.runqput",
    [GOGO] = "gogo",
};

/* What `go cr.backgroundRead()` is compiled to, under names that change from version to version. */
static const char watcher_prefix[] = "net/http.(*connReader).startBackgroundRead.";

struct places {
	struct pclntab_function function[FUNCTIONS];
	__u64 watchers[RUNTIME_WATCHERS];
	unsigned int watcher_count;
};

/* Linkers may have put the table into a section with other things. */
static int search_table(const struct elf_section *section, struct pclntab *ret_table,
			__u64 *ret_address)
{
	for (size_t i = 0; i + PCLNTAB_HEADER_SIZE <= section->size; i += HEADER_PREFIX) {
		const __u8 *at = section->data + i;

		if (at[1] != 0xff || at[2] != 0xff || at[3] != 0xff ||
		    pclntab_open(at, section->size - i, ret_table))
			continue;
		*ret_address = section->address + i;
		return 0;
	}
	return -ENOENT;
}

static int find_table(struct elf_image *image, struct pclntab *ret_table)
{
	static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab", ".data.rel.ro",
					    ".rodata"};
	struct elf_section section;
	__u64 address;
	int err = -ENOENT;

	for (size_t i = 0; err && i < sizeof(names) / sizeof(names[0]); i++)
		if (!elf_image_section(image, names[i], &section))
			err = search_table(&section, ret_table, &address);
	if (err || ret_table->text)
		return err;
	return elf_image_relocation(image, address + PCLNTAB_TEXT_FIELD, &ret_table->text);
}

static void note(struct places *places, const struct pclntab_function *function)
{
	for (int i = 0; i < FUNCTIONS; i++)
		if (!strcmp(function->name, function_names[i]))
			places->function[i] = *function;
	if (!strncmp(function->name, watcher_prefix, sizeof(watcher_prefix) - 1) &&
	    places->watcher_count < RUNTIME_WATCHERS)
		places->watchers[places->watcher_count++] = function->start;
}

static int find_places(const struct pclntab *table, struct places *ret_places)
{
	struct pclntab_function function;
	int err = 0;

	*ret_places = (struct places){};
	for (__u64 i = 0; !err; i++) {
		err = pclntab_get(table, i, &function);
		if (!err)
			note(ret_places, &function);
	}
	return err == -ENOENT ? 0 : err;
}

/* The machine code of a function, as far as `to` has room. Returns its size, 0 if unreadable. */
static size_t read_code(struct elf_image *image, const struct pclntab_function *function, __u8 *to)
{
	size_t size = function->end - function->start;

	if (size > CODE_MAX)
		size = CODE_MAX;
	return function->name && !elf_image_read(image, function->start, to, size) ? size : 0;
}

static int place_started(struct elf_image *image, const struct places *places, __u8 *code,
			 __u64 *ret_offset)
{
	const struct pclntab_function *newproc = &places->function[NEWPROC];
	size_t at, size = read_code(image, newproc, code);
	int err =
	    machine_code_call(code, size, newproc->start, places->function[RUNQPUT].start, &at);

	return err ? err : elf_image_offset(image, newproc->start + at, ret_offset);
}

/* A function that the program may lack: then the offset stays 0. */
static int place_entry(struct elf_image *image, const struct pclntab_function *function, __u8 *code,
		       __u64 *ret_offset)
{
	size_t size = read_code(image, function, code);

	*ret_offset = 0;
	if (!function->name)
		return 0;
	return elf_image_offset(image, function->start + machine_code_entry(code, size),
				ret_offset);
}

static int place_probes(struct elf_image *image, const struct places *places, struct golang *golang,
			const char **ret_why)
{
	static __u8 code[CODE_MAX];
	size_t size;

	*ret_why = "the place where it stores the goroutine is not known";
	size = read_code(image, &places->function[GOGO], code);
	if (machine_code_g_offset(code, size, &golang->runtime.g_offset))
		return -ENOTSUP;
	*ret_why = "the place where it starts goroutines is not known";
	if (place_started(image, places, code, &golang->offset[GOLANG_STARTED]))
		return -ENOTSUP;
	*ret_why = "functions of its table are not in the file";
	for (int i = GOLANG_WRITES; i < GOLANG_PROBES; i++)
		if (place_entry(image, &places->function[i], code, &golang->offset[i]))
			return -ENOTSUP;
	*ret_why = "";
	memcpy(golang->runtime.watchers, places->watchers, sizeof(places->watchers));
	return 0;
}

static int check_version(const struct elf_section *build, struct golang *golang,
			 const char **ret_why)
{
	*ret_why = "its version is not told";
	if (golang_build_minor(build->data, build->size, &golang->minor))
		return -ENOTSUP;
	*ret_why = "it was built with a version of Go that is older or newer than those supported";
	if (golang->minor < MINOR_MIN || golang->minor > MINOR_MAX)
		return -ENOTSUP;
	golang->runtime.kind = RUNTIME_GO;
	golang->runtime.curg_offset = golang->minor < 25 ? 192 : 184;
	return 0;
}

int golang_inspect(struct elf_image *image, struct golang *ret_golang, const char **ret_why)
{
	struct golang golang = {};
	struct elf_section build;
	struct pclntab table;
	struct places places;
	int err;

	if (elf_image_section(image, ".go.buildinfo", &build))
		return -ENOENT;
	*ret_why = "its processor is not supported";
	if (elf_image_machine(image) != EM_X86_64)
		return -ENOTSUP;
	golang.entry = elf_image_entry(image);
	err = check_version(&build, &golang, ret_why);
	if (err)
		return err;
	*ret_why = "its table of functions is not there, or damaged";
	if (find_table(image, &table) || find_places(&table, &places))
		return -ENOTSUP;
	err = place_probes(image, &places, &golang, ret_why);
	if (!err)
		*ret_golang = golang;
	return err;
}
