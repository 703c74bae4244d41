// SPDX-License-Identifier: Apache-2.0
/*
 * The parsers of files and memory of strangers, one for each program that is made of this source:
 * INSPECT is its call. Input: a file, which is the program, all of its libraries, and its memory.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtimes/dotnet/dotnet.h"
#include "runtimes/go/golang.h"
#include "runtimes/haproxy/haproxy.h"
#include "runtimes/java/java.h"
#include "inspect/library.h"
#include "runtimes/node/node.h"
#include "runtimes/python/python.h"
#include "runtimes/ruby/ruby.h"
#include "runtimes/tokio/tokio.h"

#define SIZE_MAX_OF (1 << 20)
#define BIAS        0x7f0000000000

/* The file at hand, without a byte more, so that the sanitizer sees who reads beyond. */
static const uint8_t *file;
static size_t file_size;

/* Instead of inspect/library.c. */
int library_open(const struct subject *subject, const char *prefix, struct library *ret_library)
{
	(void)subject;
	(void)prefix;
	*ret_library = (struct library){.file = 1, .bias = BIAS};
	return elf_image_open_bytes(file, file_size, &ret_library->image);
}

void library_close(struct library *library)
{
	elf_image_close(library->image);
}

int library_program_bias(const struct subject *subject, __u64 entry, __u64 *ret_bias)
{
	(void)subject;
	*ret_bias = BIAS - entry;
	return 0;
}

union found {
	struct golang golang;
	struct python python;
	struct ruby ruby;
	struct node node;
	struct haproxy haproxy;
	struct runtime runtime;
};

static union found found;
static enum why why __attribute__((unused));

static int memory_of(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("memory", MFD_CLOEXEC);
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct subject subject = {.file_count = 2, .memory_fd = -1, .file[1] = {.fd = 1}};
	struct elf_image *image;

	if (size > SIZE_MAX_OF || elf_image_open_bytes(data, size, &image))
		return 0;
	file = data;
	file_size = size;
	subject.memory_fd = memory_of(data, size);
	INSPECT;
	elf_image_close(image);
	return 0;
}
