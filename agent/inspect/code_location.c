// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/foreign.h"
#include "inspect/mapped_file.h"
#include "inspect/sandbox.h"
#include "inspect/elf_image.h"
#include "inspect/code_location.h"

/* What the work in the sandbox is about, and what is found on the way. */
struct search {
	__u32 tgid;
	__u64 address;
	int returns;
	int proc_fd, file_fd;
	struct code_location location;
};

/* The sandbox sends what it knows whenever it knows more: the last message counts. */
static int say(int socket, const struct code_location *location)
{
	return send(socket, location, sizeof(*location), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int take_mapping(const struct mapping *mapping, void *data)
{
	struct search *search = data;

	if (search->address < mapping->start || search->address >= mapping->end)
		return 0;
	search->location.offset = search->address - mapping->start + mapping->offset;
	foreign_copy(search->location.module, sizeof(search->location.module),
		     *mapping->path ? mapping->path : "[anonymous]");
	if (mapping->inode)
		search->file_fd = mapped_file_open(search->proc_fd, mapping);
	return 1;
}

/* The function, if the file has symbols. */
static int find_function(const struct search *search, struct code_location *location)
{
	_cleanup_elf_image_ struct elf_image *image = NULL;
	__u64 address, start;
	const char *name;

	if (elf_image_open(search->file_fd, &image) ||
	    elf_image_address(image, location->offset, &address) ||
	    elf_image_function(image, address - (search->returns != 0), &name, &start))
		return -ENOENT;
	foreign_copy(location->function, sizeof(location->function), name);
	location->into = address - start;
	return 0;
}

static int work(int socket, void *data)
{
	struct search *search = data;
	int found, err;

	search->proc_fd = mapped_file_process(search->tgid);
	found = search->proc_fd < 0 ? search->proc_fd
				    : mapping_each(search->proc_fd, take_mapping, search);
	if (found != 1)
		return found ? found : -ENOENT;
	err = say(socket, &search->location);
	if (!err && search->file_fd >= 0)
		err = sandbox_confine();
	if (!err && search->file_fd >= 0 && !find_function(search, &search->location))
		err = say(socket, &search->location);
	return err;
}

int code_location_find(__u32 tgid, __u64 address, int returns, struct code_location *ret)
{
	struct search search = {
	    .tgid = tgid, .address = address, .returns = returns, .file_fd = -1};
	_cleanup_sandbox_ struct sandbox sandbox = SANDBOX_NONE;
	int err = sandbox_start(work, &search, &sandbox);
	struct code_location location;

	*ret = (struct code_location){};
	if (err)
		return err;
	sandbox_wait(&sandbox);
	err = -ENOENT;
	while (recv(sandbox.socket, &location, sizeof(location), MSG_DONTWAIT) ==
	       sizeof(location)) {
		location.module[sizeof(location.module) - 1] = '\0';
		location.function[sizeof(location.function) - 1] = '\0';
		*ret = location;
		err = 0;
	}
	return err;
}
