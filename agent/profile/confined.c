// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "inspect/sandbox.h"
#include "profile/confined.h"

struct order {
	const void *bytes; /* of the file, mapped before the sandbox was made */
	size_t size;
	int (*work)(struct elf_image *image, void *shared);
	void *shared;
};

void *confined_alloc(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void confined_free(void *shared, size_t size)
{
	if (shared)
		munmap(shared, size);
}

static int work(int socket, void *data)
{
	_cleanup_elf_image_ struct elf_image *image = NULL;
	const struct order *order = data;
	int err = sandbox_confine();

	(void)socket;
	if (!err)
		err = elf_image_open_bytes(order->bytes, order->size, &image);
	return err ? err : order->work(image, order->shared);
}

static int run(struct order *order)
{
	_cleanup_sandbox_ struct sandbox sandbox = SANDBOX_NONE;
	int err = sandbox_start(work, order, &sandbox);

	if (err)
		return err;
	return sandbox_wait(&sandbox) == SANDBOX_DONE ? 0 : -ENOEXEC;
}

int confined_run(int fd, int (*work_on)(struct elf_image *image, void *shared), void *shared)
{
	struct order order = {.work = work_on, .shared = shared};
	struct stat file;
	void *bytes;
	int err;

	if (fstat(fd, &file))
		return -errno;
	if (file.st_size < (off_t)sizeof(Elf64_Ehdr))
		return -ENOEXEC;
	order.size = (size_t)file.st_size;
	/* Only mapped here: a file that shrinks meanwhile ends the process that reads it. */
	bytes = mmap(NULL, order.size, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	order.bytes = bytes;
	err = run(&order);
	munmap(bytes, order.size);
	return err;
}

int confined_call(int (*call)(int socket, void *shared), void *shared, int most_ms)
{
	_cleanup_sandbox_ struct sandbox sandbox = SANDBOX_NONE;
	int err = sandbox_start(call, shared, &sandbox);

	if (err)
		return err;
	switch (sandbox_wait_ms(&sandbox, most_ms)) {
	case SANDBOX_DONE:
		return 0;
	case SANDBOX_RUNS:
		return -ETIMEDOUT;
	default:
		return -ENOEXEC;
	}
}
