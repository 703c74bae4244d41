// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>

#include "base/cleanup.h"
#include "runtime/classify.h"
#include "runtime/dotnet.h"
#include "runtime/elf_image.h"
#include "runtime/process.h"

/* Addresses in the file become addresses in the process. */
static int relocate(__u32 tgid, struct classified *found)
{
	__u64 bias;
	int err = process_load_bias(tgid, found->golang.entry, &bias);

	found->runtime = found->golang.runtime;
	if (!err)
		golang_relocate(&found->runtime.go, bias);
	return err;
}

/* Is it Python? Where it cannot be followed, its threads can. */
static int look_at_python(__u32 tgid, struct elf_image *image, struct classified *found)
{
	int err = python_inspect(tgid, image, &found->python, &found->why);

	if (!err)
		found->runtime = found->python.runtime;
	if (err != -ENOENT)
		found->language = "Python";
	return err == -ENOTSUP ? 0 : err;
}

static int look_at_ruby(__u32 tgid, struct elf_image *image, struct classified *found)
{
	int err = ruby_inspect(tgid, image, &found->ruby, &found->why);

	if (!err)
		found->runtime = found->ruby.runtime;
	if (err != -ENOENT)
		found->language = "Ruby";
	return err == -ENOTSUP ? 0 : err;
}

static int look_at_haproxy(__u32 tgid, struct elf_image *image, struct classified *found)
{
	__u64 bias;
	int err = haproxy_inspect(image, &found->haproxy);

	if (!err)
		err = process_load_bias(tgid, found->haproxy.entry, &bias);
	if (err)
		return err;
	found->runtime = found->haproxy.runtime;
	haproxy_relocate(&found->runtime, bias);
	return 0;
}

static int look_at_node(__u32 tgid, struct elf_image *image, struct classified *found)
{
	int err = node_inspect(tgid, image, &found->node);

	if (!err)
		found->runtime = found->node.runtime;
	return err;
}

static int look_at_java(__u32 tgid, struct classified *found)
{
	int err = java_inspect(tgid, &found->runtime, &found->why);

	if (err != -ENOENT)
		found->language = "Java";
	else
		found->runtime.kind = RUNTIME_THREADS;
	return err == -ENOTSUP ? 0 : err;
}

static int look_at_dotnet(__u32 tgid, struct elf_image *image, struct classified *found)
{
	int err = dotnet_inspect(tgid, image);

	if (err)
		return err;
	found->runtime.kind = RUNTIME_OPAQUE;
	found->language = ".NET";
	found->why = "its work goes from thread to thread";
	return 0;
}

static int look_into(__u32 tgid, int fd, struct classified *found)
{
	_cleanup_elf_image_ struct elf_image *image = NULL;
	int err = elf_image_open(fd, &image);

	found->runtime.kind = RUNTIME_THREADS;
	if (!err)
		err = golang_inspect(image, &found->golang, &found->why);
	if (err == -ENOTSUP) {
		found->runtime.kind = RUNTIME_OPAQUE;
		found->language = "Go";
	}
	if (err == -ENOENT)
		err = look_at_python(tgid, image, found);
	if (err == -ENOENT)
		err = look_at_haproxy(tgid, image, found);
	if (err == -ENOENT)
		err = look_at_ruby(tgid, image, found);
	if (err == -ENOENT)
		err = look_at_node(tgid, image, found);
	if (err == -ENOENT)
		err = look_at_dotnet(tgid, image, found);
	if (err == -ENOENT)
		err = look_at_java(tgid, found);
	/* -ENOEXEC: 32 bits, or another byte order */
	return err == -ENOTSUP || err == -ENOENT || err == -ENOEXEC ? 0 : err;
}

int classify(__u32 tgid, classify_known known, void *data, struct classified *ret_classified)
{
	_cleanup_close_ int fd = -1;
	char path[PROCESS_PATH_MAX];
	const struct golang *golang;
	int err = 0;

	*ret_classified = (struct classified){};
	fd = open(process_exe(path, tgid), O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &ret_classified->file))
		return -errno;
	golang = known(&ret_classified->file, data);
	if (golang)
		ret_classified->golang = *golang;
	else
		err = look_into(tgid, fd, ret_classified);
	if (err)
		return err;
	return ret_classified->golang.runtime.kind == RUNTIME_GO ? relocate(tgid, ret_classified)
								 : 0;
}
