// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/take/processes.h"
#include "profile/take/thread_data.h"
#include "profile/take/thread_slot.h"

#define CUSTOM_VERSION 1 /* of native custom labels */

struct thread_data {
	struct sampler *sampler;
	struct files *files;
	__u32 sources;
	struct registered registered;
	struct thread_file *file[FILES_MAX];
	bool is_read[FILES_MAX];
};

/* One process that is looked at. */
struct look {
	struct thread_data *data;
	const struct thread_data_process *process;
	struct thread_module module[PROFILE_MAPPINGS_MAX];
	struct thread_modules modules;
	int file; /* that the process runs */
	bool has_file;
	char program[REGISTERED_PROGRAM_MAX]; /* empty: its name is not known */
	struct process_context **context;
	struct profile_thread_data told;
};

struct thread_data *thread_data_new(struct sampler *sampler, struct files *files, __u32 sources,
				    const struct registered *registered)
{
	struct thread_data *data = calloc(1, sizeof(*data));

	if (data) {
		data->sampler = sampler;
		data->files = files;
		data->sources = sources;
		data->registered = *registered;
	}
	return data;
}

void thread_data_free(struct thread_data *data)
{
	for (size_t i = 0; data && i < FILES_MAX; i++)
		thread_file_free(data->file[i]);
	free(data);
}

const struct registered *thread_data_registered(const struct thread_data *data)
{
	return &data->registered;
}

static bool wants(const struct thread_data *data, enum profile_source source)
{
	return data->sources & 1U << source;
}

/* What is known of a file, which is read once. NULL: nothing. */
static const struct thread_file *file_of(struct thread_data *data, int file)
{
	if (!data->is_read[file] && files_has_threads(data->files, file))
		thread_file_read(files_fd(data->files, file), &data->registered, &data->file[file]);
	data->is_read[file] = true;
	return data->file[file];
}

/* The file that the process runs, by number; -1: it is none of those that are mapped. */
static int find_program(const struct look *look)
{
	struct mapping identity;

	if (proc_reader_program(look->modules.reader, &identity))
		return -1;
	return files_find(look->data->files, &identity);
}

/*
 * It is looked for when it is first needed, since that is expensive, and most processes do not need
 * it.
 */
static bool is_program(struct look *look, int file)
{
	if (!look->has_file)
		look->file = find_program(look);
	look->has_file = true;
	return look->file == file;
}

static bool is_known(const struct look *look, const struct thread_file *file)
{
	for (size_t i = 0; i < look->modules.count; i++)
		if (look->module[i].file == file)
			return true;
	return false;
}

/* Is it musl, by the name of its only file? (That of glibc is called libc.so.6.) */
static bool is_musl(const char *name)
{
	return !strcmp(name, "libc.so") || !strncmp(name, "ld-musl-", strlen("ld-musl-"));
}

/* The files that have thread-local variables, each once. */
static void gather_modules(struct look *look)
{
	for (size_t i = 0; i < look->process->count; i++) {
		const struct process_code *code = &look->process->code[i];
		const struct thread_file *file = file_of(look->data, code->file);

		if (is_musl(files_name(look->data->files, code->file)))
			look->modules.is_musl = true;
		if (file && !is_known(look, file))
			look->module[look->modules.count++] =
			    (struct thread_module){file, code->bias, is_program(look, code->file)};
	}
}

static void read_program(struct look *look)
{
	ssize_t length =
	    readlinkat(look->process->proc_fd, "exe", look->program, sizeof(look->program) - 1);

	look->program[length > 0 ? length : 0] = '\0';
}

static struct profile_tls find(const struct look *look, enum profile_source source,
			       enum thread_symbol symbol)
{
	__u64 size;

	if (!wants(look->data, source))
		return (struct profile_tls){};
	return thread_slot_find(&look->modules, symbol, &size);
}

/* Native custom labels say of which version they are. */
static bool is_custom_known(const struct look *look)
{
	for (size_t i = 0; i < look->modules.count; i++) {
		const struct thread_module *module = &look->module[i];

		if (module->file->variable[THREAD_CUSTOM].defined && module->file->custom_version)
			return proc_reader_u32(look->modules.reader,
					       module->bias + module->file->custom_version) ==
			       CUSTOM_VERSION;
	}
	return false;
}

static void find_go(struct look *look)
{
	for (size_t i = 0; i < look->modules.count; i++)
		if (look->module[i].is_program && wants(look->data, PROFILE_SOURCE_GO))
			look->told.go = look->module[i].file->go;
}

static __u8 slot_type(const struct registration *registration, __u64 size)
{
	if (!registration->is_text)
		return PROFILE_SLOT_NUMBER;
	return size == sizeof(__u64) ? PROFILE_SLOT_POINTER : PROFILE_SLOT_TEXT;
}

/* A number has up to eight bytes; a variable whose symbol has no size is taken for eight. */
static __u8 slot_size(const struct registration *registration, __u64 size)
{
	if (!registration->is_text)
		return !size || size > sizeof(__u64) ? sizeof(__u64) : (__u8)size;
	return size > PROFILE_LABEL_VALUE ? PROFILE_LABEL_VALUE : (__u8)size;
}

static void find_registered(struct look *look, size_t number)
{
	const struct registration *registration = &look->data->registered.entry[number];
	struct profile_thread_data *told = &look->told;
	struct profile_tls tls;
	__u64 size;

	if (told->slot_count == PROFILE_SLOTS_MAX ||
	    strcmp(registration->program, look->program) != 0)
		return;
	tls = thread_slot_find(&look->modules, THREAD_REGISTERED + number, &size);
	if (tls.model)
		told->slot[told->slot_count++] =
		    (struct profile_slot){.tls = tls,
					  .number = (__u32)number,
					  .type = slot_type(registration, size),
					  .size = slot_size(registration, size)};
}

static void find_slots(struct look *look)
{
	if (!wants(look->data, PROFILE_SOURCE_REGISTERED) || !look->data->registered.count)
		return;
	read_program(look);
	for (size_t i = 0; i < look->data->registered.count; i++)
		find_registered(look, i);
}

/* As a callback of proc_reader_maps(): the names of keys; those that are known stay for a while. */
static int read_context(const struct mapping *mapping, void *data)
{
	struct look *look = data;

	if (!process_context_is(mapping->path))
		return 0;
	if (!*look->context)
		*look->context = calloc(1, sizeof(**look->context));
	if (*look->context)
		process_context_read(look->modules.reader, mapping->start, *look->context);
	return 1;
}

static void find_all(struct look *look)
{
	look->told.otel = find(look, PROFILE_SOURCE_OTEL, THREAD_OTEL);
	look->told.elastic = find(look, PROFILE_SOURCE_ELASTIC, THREAD_ELASTIC);
	if (is_custom_known(look))
		look->told.custom = find(look, PROFILE_SOURCE_CUSTOM, THREAD_CUSTOM);
	find_go(look);
	find_slots(look);
	if (look->told.otel.model)
		proc_reader_maps(look->modules.reader, read_context, look);
}

/* If the process could not be read completely, the result may be incomplete. */
static bool has_any(const struct look *look)
{
	const struct profile_thread_data *told = &look->told;

	if (proc_reader_has_failed(look->modules.reader))
		return false;
	return told->otel.model || told->elastic.model || told->custom.model || told->go.form ||
	       told->slot_count;
}

void thread_data_look(struct thread_data *data, const struct thread_data_process *process,
		      struct process_context **context)
{
	struct look look = {.data = data,
			    .process = process,
			    .context = context,
			    .modules = {.reader = process->reader, .module = look.module},
			    .told = {.life = process->life}};

	if (!data->sources)
		return;
	gather_modules(&look);
	find_all(&look);
	sampler_set_threads(data->sampler, process->tgid, has_any(&look) ? &look.told : NULL);
}
