// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <sys/mman.h>

#include "inspect/sandbox.h"
#include "inspect/confined.h"

struct order {
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

/* In the sandbox: even to ask how large the file is may take for ever. */
static int work(int socket, void *data)
{
	_cleanup_elf_image_ struct elf_image *image = NULL;
	const struct order *order = data;
	int err = sandbox_confine();

	(void)socket;
	if (!err)
		err = elf_image_open(SANDBOX_FILE, &image);
	return err ? err : order->work(image, order->shared);
}

int confined_run(int fd, int (*work_on)(struct elf_image *image, void *shared), void *shared)
{
	_cleanup_sandbox_ struct sandbox sandbox = SANDBOX_NONE;
	struct order order = {.work = work_on, .shared = shared};
	int err = sandbox_start_with(fd, work, &order, &sandbox);

	if (err)
		return err;
	switch (sandbox_wait(&sandbox)) {
	case SANDBOX_DONE:
		return 0;
	case SANDBOX_KILLED:
		return -ETIMEDOUT;
	default:
		return -ENOEXEC;
	}
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
	case SANDBOX_KILLED:
		return -ETIMEDOUT;
	default:
		return -ENOEXEC;
	}
}
