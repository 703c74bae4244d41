/* SPDX-License-Identifier: Apache-2.0 */
#include "tun.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

static int enter(const char *netns)
{
	char path[256];
	int fd, err = 0;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (setns(fd, CLONE_NEWNET))
		err = -errno;
	close(fd);
	return err;
}

static int configure(int fd, const char *name, const struct tun_kind *kind)
{
	unsigned int offload = kind->offload ? TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 : 0;
	struct ifreq request = {0};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	request.ifr_flags =
	    (short)((kind->ethernet ? IFF_TAP : IFF_TUN) | IFF_NO_PI | IFF_VNET_HDR);
	if (ioctl(fd, TUNSETIFF, &request) || ioctl(fd, TUNSETOFFLOAD, offload))
		return -errno;
	return 0;
}

static int open_device(const char *name, const struct tun_kind *kind)
{
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = configure(fd, name, kind);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int tun_open(const char *netns, const char *name, const struct tun_kind *kind)
{
	int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int fd;

	if (own < 0)
		return -errno;
	fd = enter(netns);
	if (!fd)
		fd = open_device(name, kind);
	if (setns(own, CLONE_NEWNET))
		perror("link: back to its own network namespace");
	close(own);
	return fd;
}

int tun_read(int fd, struct packet *into)
{
	struct iovec parts[2] = {
	    {&into->offload, sizeof(into->offload)},
	    {into->data, PACKET_MAX},
	};
	ssize_t n = readv(fd, parts, 2);

	if (n < 0)
		return -errno;
	if ((size_t)n < sizeof(into->offload))
		return -EPROTO;
	into->len = (size_t)n - sizeof(into->offload);
	return 0;
}

int tun_write(int fd, const struct packet *packet)
{
	struct iovec parts[2] = {
	    {(void *)&packet->offload, sizeof(packet->offload)},
	    {(void *)packet->data, packet->len},
	};

	return writev(fd, parts, 2) < 0 ? -errno : 0;
}
