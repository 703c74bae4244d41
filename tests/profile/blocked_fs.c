// SPDX-License-Identifier: Apache-2.0
/*
 * A file system (fuse(4)) that stops answering, and a program that is run beside it:
 *
 *     blocked_fs WHEN MOUNTPOINT SOURCE COMMAND [ARGUMENT...]
 *
 * MOUNTPOINT/NAME, whatever the name, has the bytes of SOURCE. It is mounted in a mount namespace
 * of this process, which becomes the command; the server, its child, ends with it.
 *
 * WHEN "reads": a READ is taken and never answered. "untaken": once the file was opened nothing is
 * taken any more, so that who waits can be killed. "signal": all is answered until SIGUSR1 comes to
 * the child; then nothing is taken. "swallows": then all is taken, and nothing answered.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REQUEST_MAX (1 << 17)
#define FILE_NODE   2
#define READ_MAX    (1 << 16)

static const char *when;
static int fuse_fd, source_fd;
static struct stat source;
static volatile sig_atomic_t is_silent;

static void fall_silent(int number)
{
	(void)number;
	is_silent = 1;
}

/* An error is negative; the kernel may have given the request up. */
static void answer(const struct fuse_in_header *to, int error, const void *data, size_t size)
{
	struct fuse_out_header head = {
	    .len = (uint32_t)(sizeof(head) + size), .error = error, .unique = to->unique};
	struct iovec parts[] = {{&head, sizeof(head)}, {(void *)(uintptr_t)data, size}};

	if (writev(fuse_fd, parts, size ? 2 : 1) < 0 && errno != ENOENT)
		perror("fuse");
}

static struct fuse_attr attributes(uint64_t node)
{
	const bool is_file = node == FILE_NODE;

	return (struct fuse_attr){.ino = node,
				  .size = is_file ? (uint64_t)source.st_size : 0,
				  .blocks = (uint64_t)source.st_blocks,
				  .mode = is_file ? S_IFREG | 0755 : S_IFDIR | 0755,
				  .nlink = 1,
				  .blksize = 4096};
}

static void begin(const struct fuse_in_header *request)
{
	const struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION,
					   .minor = FUSE_KERNEL_MINOR_VERSION,
					   .max_write = 4096,
					   .max_background = 16,
					   .time_gran = 1};

	answer(request, 0, &init, sizeof(init));
}

static void look_up(const struct fuse_in_header *request)
{
	const struct fuse_entry_out entry = {.nodeid = FILE_NODE, .attr = attributes(FILE_NODE)};

	answer(request, 0, &entry, sizeof(entry));
}

static void tell_attributes(const struct fuse_in_header *request)
{
	const struct fuse_attr_out out = {.attr = attributes(request->nodeid)};

	answer(request, 0, &out, sizeof(out));
}

static void read_source(const struct fuse_in_header *request, const struct fuse_read_in *wanted)
{
	static uint8_t bytes[READ_MAX];
	const size_t size = wanted->size < sizeof(bytes) ? wanted->size : sizeof(bytes);
	const ssize_t got = pread(source_fd, bytes, size, (off_t)wanted->offset);

	answer(request, got < 0 ? -EIO : 0, bytes, got > 0 ? (size_t)got : 0);
}

static void serve(const struct fuse_in_header *request, const void *arguments)
{
	const struct fuse_open_out opened = {};
	const struct fuse_statfs_out system = {};

	switch (request->opcode) {
	case FUSE_INIT:
		return begin(request);
	case FUSE_LOOKUP:
		return look_up(request);
	case FUSE_GETATTR:
		return tell_attributes(request);
	case FUSE_OPEN:
		answer(request, 0, &opened, sizeof(opened));
		is_silent |= !strcmp(when, "untaken");
		return;
	case FUSE_READ:
		if (strcmp(when, "reads") != 0)
			read_source(request, arguments);
		return;
	case FUSE_STATFS:
		return answer(request, 0, &system, sizeof(system));
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		return answer(request, 0, NULL, 0);
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	default:
		answer(request, -ENOSYS, NULL, 0);
	}
}

/* Until the file system is gone, or its user. */
static _Noreturn void serve_all(void)
{
	static uint8_t request[REQUEST_MAX] __attribute__((aligned(8)));
	ssize_t size;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGUSR1, fall_silent);
	for (;;) {
		while (is_silent && strcmp(when, "swallows") != 0)
			pause();
		size = read(fuse_fd, request, sizeof(request));
		if (size < 0 && errno != EINTR && errno != ENOENT)
			_exit(0);
		if (size > 0 && !is_silent)
			serve((void *)request, request + sizeof(struct fuse_in_header));
	}
}

static int mount_at(const char *folder)
{
	char options[128];

	fuse_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse_fd < 0)
		return -1;
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other", fuse_fd,
		 (unsigned)getuid(), (unsigned)getgid());
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -1;
	return mount("blocked", folder, "fuse", MS_NOSUID | MS_NODEV, options);
}

int main(int argc, char **argv)
{
	pid_t server;

	if (argc < 5) {
		fprintf(stderr, "%s reads|untaken|signal|swallows MOUNTPOINT SOURCE COMMAND...\n",
			argv[0]);
		return 2;
	}
	when = argv[1];
	source_fd = open(argv[3], O_RDONLY | O_CLOEXEC);
	if (source_fd < 0 || fstat(source_fd, &source) || mount_at(argv[2])) {
		perror(argv[0]);
		return 1;
	}
	server = fork();
	if (!server)
		serve_all();
	close(fuse_fd);
	execv(argv[4], &argv[4]);
	perror(argv[4]);
	kill(server, SIGKILL);
	return 1;
}
