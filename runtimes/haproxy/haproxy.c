// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "inspect/subject.h"
#include "runtimes/haproxy/haproxy.h"

/* A pointer to the scheduler's data of a thread, by version: since 2.5, and before. */
static const char *const schedulers[] = {"th_ctx", "sched"};

static int find_scheduler(struct elf_image *image, __s64 *ret_offset)
{
	__u64 size, place;

	if (elf_image_tls_size(image, &size))
		return -ENOENT;
	for (size_t i = 0; i < sizeof(schedulers) / sizeof(schedulers[0]); i++) {
		if (elf_image_symbol(image, schedulers[i], &place) || place >= size)
			continue;
		*ret_offset = (__s64)(place - size); /* it ends at the thread pointer */
		return 0;
	}
	return -ENOENT;
}

/* Behind a mark for jumps stands what the kernel can do by itself, mostly: a push. */
static int find_begins(struct elf_image *image, __u64 address, struct probe_sites *sites)
{
	static const __u8 mark[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
	__u8 code[sizeof(mark)];

	if (elf_image_read(image, address, code, sizeof(code)))
		return -ENOENT;
	if (!memcmp(code, mark, sizeof(mark)))
		address += sizeof(mark);
	return probe_sites_add(sites, image, SUBJECT_PROGRAM, 0, address);
}

int haproxy_inspect(struct elf_image *image, struct haproxy *ret_haproxy)
{
	struct haproxy found = {.runtime.kind = RUNTIME_HAPROXY};
	struct runtime_haproxy *places = &found.runtime.haproxy;
	__u64 begins;

	if (elf_image_machine(image) != EM_X86_64 ||
	    elf_image_symbol(image, "process_stream", &places->process_stream) ||
	    elf_image_symbol(image, "flt_stream_start", &begins) ||
	    elf_image_symbol(image, "accept_queue_process", &places->accept) ||
	    find_scheduler(image, &places->scheduler) || find_begins(image, begins, &found.sites))
		return -ENOENT;
	found.entry = elf_image_entry(image);
	*ret_haproxy = found;
	return 0;
}

void haproxy_relocate(struct runtime *runtime, __u64 bias)
{
	struct runtime_haproxy *places = &runtime->haproxy;

	places->process_stream += bias;
	places->accept += bias;
}
