// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "inspect/subject.h"

/* Room for the descriptors of all files. */
union rights {
	struct cmsghdr header;
	char room[CMSG_SPACE(SUBJECT_FILES_MAX * sizeof(int))];
};

int subject_send(int socket, const struct subject *subject)
{
	int fds[SUBJECT_FILES_MAX], count = 0;
	struct iovec data = {.iov_base = (void *)subject, .iov_len = sizeof(*subject)};
	union rights rights = {};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = &rights};

	for (__u32 i = 0; i < subject->file_count; i++)
		if (subject->file[i].fd >= 0)
			fds[count++] = subject->file[i].fd;
	rights.header.cmsg_level = SOL_SOCKET;
	rights.header.cmsg_type = SCM_RIGHTS;
	rights.header.cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
	memcpy(CMSG_DATA(&rights.header), fds, (size_t)count * sizeof(int));
	message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
	return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof(*subject) ? 0 : -errno;
}

/* The descriptors that came with a message: how many. */
static int take_rights(struct msghdr *message, int fds[SUBJECT_FILES_MAX])
{
	const struct cmsghdr *header = CMSG_FIRSTHDR(message);
	size_t size;

	if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
		return 0;
	size = header->cmsg_len - CMSG_LEN(0);
	memcpy(fds, CMSG_DATA(header), size);
	return (int)(size / sizeof(int));
}

/* Each open file gets one, in their order; there must be as many. */
static int hand_out(struct subject *subject, const int *fds, int count)
{
	int used = 0;

	subject->memory_fd = -1;
	if (subject->file_count > SUBJECT_FILES_MAX)
		subject->file_count = 0;
	for (__u32 i = 0; i < subject->file_count; i++) {
		struct subject_file *file = &subject->file[i];

		if (file->fd >= 0)
			file->fd = used < count ? fds[used++] : -EBADMSG;
		if (file->range_count > SUBJECT_RANGES_MAX)
			file->range_count = 0;
		file->name[SUBJECT_NAME_MAX - 1] = '\0';
	}
	for (int i = used; i < count; i++)
		close(fds[i]);
	if (subject->file_count && used == count && subject->file[SUBJECT_PROGRAM].fd >= 0)
		return 0;
	subject_close(subject);
	return -EBADMSG;
}

int subject_receive(int socket, struct subject *ret_subject)
{
	int fds[SUBJECT_FILES_MAX], count;
	struct iovec data = {.iov_base = ret_subject, .iov_len = sizeof(*ret_subject)};
	union rights rights = {};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = &rights,
				 .msg_controllen = sizeof(rights)};
	ssize_t size = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (size < 0) {
		*ret_subject = SUBJECT_NONE;
		return -errno;
	}
	count = take_rights(&message, fds);
	if (size != (ssize_t)sizeof(*ret_subject))
		ret_subject->file_count = 0;
	return hand_out(ret_subject, fds, count);
}
