// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/foreign.h"
#include "inspect/mapped_file.h"
#include "inspect/sandbox.h"
#include "profile/take/files.h"

struct file {
	struct mapping identity; /* device and inode */
	int fd;
	int err; /* it is no program */
	char *name;
	struct code_layout layout;
	struct profile_table table;
	__u64 used_ns; /* when it was last known to be mapped (CLOCK_MONOTONIC) */
};

struct files {
	struct sampler *sampler;
	struct file file[FILES_MAX];
	size_t count;
	bool has_looked_for_vdso;
	int vdso; /* its number, or -errno */
};

struct files *files_new(struct sampler *sampler)
{
	struct files *files = calloc(1, sizeof(*files));

	if (files)
		files->sampler = sampler;
	return files;
}

void files_free(struct files *files)
{
	for (size_t i = 0; files && i < files->count; i++) {
		cleanup_close(&files->file[i].fd);
		free(files->file[i].name);
	}
	free(files);
}

/* Give the rows to the sampler; without room for them the file has none. */
static void hand_over(struct files *files, struct file *file, const struct code_file *code)
{
	file->layout = code->layout;
	if (code->row_count)
		sampler_add_table(files->sampler, code->row, code->row_count, &file->table);
}

/* A file that is not a program is remembered as such, and closed. */
static int read_code(struct files *files, struct file *file)
{
	struct code_file *code;

	file->err = code_file_read(file->fd, &code);
	if (file->err) {
		cleanup_close(&file->fd);
		file->fd = -1;
		return file->err;
	}
	hand_over(files, file, code);
	code_file_free(code);
	return 0;
}

static char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return foreign_dup(slash ? slash + 1 : path);
}

/* The path of the mapping is the caller's, and is not kept. */
static struct mapping identity_of(const struct mapping *mapping)
{
	return (struct mapping){
	    .major = mapping->major, .minor = mapping->minor, .inode = mapping->inode};
}

/* A file that was opened, which it takes over. Its number, or -errno. */
static int add(struct files *files, int fd, const struct mapping *mapping)
{
	struct file *file = &files->file[files->count];

	*file = (struct file){.identity = identity_of(mapping),
			      .fd = fd,
			      .name = last_part(mapping->path),
			      .used_ns = clock_now_ns()};
	if (!file->name) {
		close(fd);
		return -ENOMEM;
	}
	files->count++;
	return read_code(files, file) ? file->err : (int)files->count - 1;
}

/* Waiting for a file that cannot be read delays everything else. */
static int open_and_add(struct files *files, struct proc_reader *reader,
			const struct mapping *mapping)
{
	int fd = files->count == FILES_MAX ? -ENFILE : proc_reader_open(reader, mapping);
	const int file = fd < 0 ? fd : add(files, fd, mapping);

	if (fd >= 0 && file == -ETIMEDOUT)
		proc_reader_give_up(reader, SANDBOX_STILL_MS * (NS_PER_SECOND / 1000));
	return file;
}

#define VDSO_MAX (1UL << 20)

/* The bytes of a mapping of ours as a file. */
static int copy_to_file(const struct mapping *vdso)
{
	size_t size = vdso->end - vdso->start;
	_cleanup_close_ int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	_cleanup_free_ void *bytes = size <= VDSO_MAX ? malloc(size) : NULL;
	int fd = bytes ? memfd_create("vdso", MFD_CLOEXEC) : -1;

	if (fd >= 0 && pread(memory, bytes, size, (off_t)vdso->start) == (ssize_t)size &&
	    write(fd, bytes, size) == (ssize_t)size)
		return fd;
	cleanup_close(&fd);
	return -EIO;
}

/* As a callback of mapping_each(), for our own process. */
static int add_vdso(const struct mapping *mapping, void *data)
{
	struct files *files = data;
	int fd;

	if (strcmp(mapping->path, "[vdso]") != 0)
		return 0;
	fd = files->count == FILES_MAX ? -ENFILE : copy_to_file(mapping);
	files->vdso = fd < 0 ? fd : add(files, fd, mapping);
	return 1;
}

int files_get_vdso(struct files *files)
{
	_cleanup_close_ int proc_fd = -1;

	if (files->has_looked_for_vdso)
		return files->vdso;
	files->has_looked_for_vdso = true;
	files->vdso = -ENOENT;
	proc_fd = mapped_file_process((__u32)getpid());
	if (proc_fd >= 0)
		mapping_each(proc_fd, add_vdso, files);
	return files->vdso;
}

int files_find(const struct files *files, const struct mapping *mapping)
{
	for (size_t i = 0; i < files->count; i++)
		if (mapped_file_is_same(&files->file[i].identity, mapping))
			return (int)i;
	return -ENOENT;
}

int files_get(struct files *files, struct proc_reader *reader, const struct mapping *mapping)
{
	int file = files_find(files, mapping);

	if (file < 0)
		return open_and_add(files, reader, mapping);
	return files->file[file].err ? files->file[file].err : file;
}

int files_describe(const struct files *files, int file, const struct mapping *mapping,
		   struct profile_mapping *ret_mapping)
{
	const struct file *of = &files->file[file];
	__u64 address;

	if (code_layout_address(&of->layout, mapping->offset, &address))
		return -ENOENT;
	*ret_mapping = (struct profile_mapping){.start = mapping->start,
						.end = mapping->end,
						.bias = mapping->start - address,
						.table = of->table,
						.frame_pointers = of->layout.frame_pointers};
	return 0;
}

bool files_has_threads(const struct files *files, int file)
{
	return files->file[file].layout.has_threads;
}

size_t files_count(const struct files *files)
{
	return files->count;
}

const char *files_name(const struct files *files, int file)
{
	return files->file[file].name;
}

int files_fd(const struct files *files, int file)
{
	return files->file[file].fd;
}

void files_close_unused(struct files *files, const bool used[FILES_MAX], __u64 before_ns)
{
	const __u64 now_ns = clock_now_ns();

	for (size_t i = 0; i < files->count; i++) {
		struct file *file = &files->file[i];

		if (used[i])
			file->used_ns = now_ns;
		if (file->used_ns >= before_ns || file->err ||
		    (files->has_looked_for_vdso && files->vdso == (int)i))
			continue;
		cleanup_close(&file->fd);
		file->fd = -1;
		file->identity = (struct mapping){}; /* another file may get it now */
	}
}

unsigned int files_used(const struct files *files)
{
	const unsigned int tables = sampler_tables_used(files->sampler);
	const unsigned int count = (unsigned int)(files->count * 100 / FILES_MAX);

	return count > tables ? count : tables;
}
