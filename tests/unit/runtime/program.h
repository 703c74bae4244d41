/* SPDX-License-Identifier: Apache-2.0 */
/* The program that a test looks into. Include cmocka.h before. */
#ifndef CTXPROP_TESTS_PROGRAM_H
#define CTXPROP_TESTS_PROGRAM_H

#include <fcntl.h>
#include <unistd.h>

#include "runtime/classify.h"
#include "inspect/elf_image.h"
#include "inspect/process.h"

struct program {
	int fd;
	struct elf_image *image;
};

static inline struct program program_at(const char *path)
{
	struct program program = {.fd = open(path, O_RDONLY | O_CLOEXEC)};

	assert_true(program.fd >= 0);
	assert_int_equal(elf_image_open(program.fd, &program.image), 0);
	return program;
}

/* That which a process runs. */
static inline struct program program_of(pid_t pid)
{
	char path[PROCESS_PATH_MAX];

	return program_at(process_exe(path, (__u32)pid));
}

static inline void program_close(struct program *program)
{
	elf_image_close(program->image);
	close(program->fd);
}

/* A process that is inspected. */
static inline struct subject subject_of(pid_t pid)
{
	struct subject subject;

	assert_int_equal(classify_open((__u32)pid, &subject), 0);
	return subject;
}

#define _cleanup_program_ __attribute__((cleanup(program_close)))

#endif
