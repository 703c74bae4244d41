// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "base/text.h"
#include "inspect/confined.h"
#include "inspect/elf_tls.h"
#include "profile/take/thread_file.h"
#include "runtimes/go/labels.h"

static const char *const published[THREAD_REGISTERED] = {
    [THREAD_OTEL] = "otel_thread_ctx_v1",
    [THREAD_ELASTIC] = "elastic_apm_profiling_correlation_tls_v1",
    [THREAD_CUSTOM] = "custom_labels_current_set",
};

static const char custom_version[] = "custom_labels_abi_version";
/* What libthread_db finds out the same by. */
static const char linker[] = "__nptl_rtld_global";
static const char modules[] = "_thread_db_rtld_global__dl_tls_dtv_slotinfo_list";

static __u64 from_base(__u64 address, __u64 base)
{
	return address > base ? address - base : 0;
}

static struct thread_variable variable_of(const struct elf_tls_variable *found, __u64 base)
{
	return (struct thread_variable){
	    .defined = found->defined,
	    .value = found->value,
	    .size = found->size,
	    .offset_slot = from_base(found->offset_slot, base),
	    .module_slot = from_base(found->module_slot, base),
	    .own_module_slot = from_base(found->own_module_slot, base),
	    .descriptor_slot = from_base(found->descriptor_slot, base),
	};
}

static void find_variables(struct elf_image *image, struct thread_file *file, __u64 base)
{
	struct elf_tls_variable found[THREAD_SYMBOLS] = {};

	for (size_t i = 0; i < THREAD_SYMBOLS; i++)
		found[i].name =
		    i < THREAD_REGISTERED ? published[i] : file->symbol[i - THREAD_REGISTERED];
	elf_tls_find(image, found, THREAD_SYMBOLS);
	for (size_t i = 0; i < THREAD_SYMBOLS; i++)
		if (*found[i].name)
			file->variable[i] = variable_of(&found[i], base);
}

void thread_file_find(struct elf_image *image, struct thread_file *file)
{
	const __u64 base = elf_image_base(image);

	file->has_block = !elf_image_tls_size(image, &file->block_size);
	find_variables(image, file, base);
	if (file->variable[THREAD_CUSTOM].defined)
		file->custom_version = from_base(elf_tls_object(image, custom_version), base);
	file->linker = from_base(elf_tls_object(image, linker), base);
	if (file->linker)
		file->modules = from_base(elf_tls_object(image, modules), base);
	golang_labels(image, &file->go);
}

static int read_file(struct elf_image *image, void *shared)
{
	thread_file_find(image, shared);
	return 0;
}

int thread_file_read(int fd, const struct registered *registered, struct thread_file **ret_file)
{
	struct thread_file *file = confined_alloc(sizeof(*file));
	int err;

	if (!file)
		return -ENOMEM;
	for (size_t i = 0; i < registered->count; i++)
		text_copy(file->symbol[i], sizeof(file->symbol[i]), registered->entry[i].symbol);
	err = confined_run(fd, read_file, file);
	if (err)
		thread_file_free(file);
	else
		*ret_file = file;
	return err;
}

void thread_file_free(struct thread_file *file)
{
	confined_free(file, sizeof(*file));
}
