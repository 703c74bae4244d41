// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

#include "wire.h"

#define NEAR                "near0"
#define FAR                 "far0"
#define PATIENCE            2000 /* milliseconds */
#define TAG_OFFSET          12   /* of a VLAN tag in a frame */
#define TCP_CHECKSUM_OFFSET 16

/* No neighbour discovery: only what a test sends is on the link. */
static void silence_ipv6(void)
{
	int fd = open("/proc/sys/net/ipv6/conf/default/disable_ipv6", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	assert_int_equal(write(fd, "1", 1), 1);
	close(fd);
}

static int attach(int prog_fd, unsigned int ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex, .attach_point = BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = prog_fd);
	int err = bpf_tc_hook_create(&hook);

	return err ? err : bpf_tc_attach(&hook, &opts);
}

static int packet_socket(unsigned int ifindex, int protocol)
{
	struct sockaddr_ll at = {
	    .sll_family = AF_PACKET,
	    .sll_protocol = htons(protocol),
	    .sll_ifindex = ifindex,
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), on = 1;

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)), 0);
	assert_int_equal(setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)), 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

struct wire *wire_open(int prog_fd)
{
	struct wire *wire = calloc(1, sizeof(*wire));

	assert_non_null(wire);
	silence_ipv6();
	if (system("ip link add " NEAR " type veth peer name " FAR " && ip link set " NEAR
		   " up && ip link set " FAR " up")) {
		print_message("skipped: no veth devices here, or no ip(8)\n");
		free(wire);
		return NULL;
	}
	wire->near = if_nametoindex(NEAR);
	wire->far = if_nametoindex(FAR);
	assert_int_equal(attach(prog_fd, wire->near), 0);
	wire->capture = packet_socket(wire->far, ETH_P_ALL);
	wire->inject = packet_socket(wire->near, 0);
	return wire;
}

void wire_close(struct wire *wire)
{
	close(wire->capture);
	close(wire->inject);
	/* One end takes the other with it. */
	assert_int_equal(system("ip link del " NEAR), 0);
	free(wire);
}

/* Put back the VLAN tag that the kernel has taken out of the frame. */
static void restore_tag(struct frame *f, const struct tpacket_auxdata *aux)
{
	if (!(aux->tp_status & TP_STATUS_VLAN_VALID))
		return;
	memmove(f->data + TAG_OFFSET + 4, f->data + TAG_OFFSET, f->len - TAG_OFFSET);
	put16(f->data + TAG_OFFSET, aux->tp_vlan_tpid);
	put16(f->data + TAG_OFFSET + 2, aux->tp_vlan_tci);
	f->len += 4;
}

static uint8_t gso_type(const struct offload *offload)
{
	if (!offload->segment_size)
		return VIRTIO_NET_HDR_GSO_NONE;
	return offload->ipv6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4;
}

void wire_send(struct wire *wire, const struct frame *frame, const struct offload *offload)
{
	struct virtio_net_hdr virtio = {
	    .flags = offload->partial ? VIRTIO_NET_HDR_F_NEEDS_CSUM : 0,
	    .gso_type = gso_type(offload),
	    .hdr_len = offload->partial ? offload->csum_start + 20 : 0,
	    .gso_size = offload->segment_size,
	    .csum_start = offload->partial ? offload->csum_start : 0,
	    .csum_offset = offload->partial ? TCP_CHECKSUM_OFFSET : 0,
	};
	struct iovec part[2] = {{&virtio, sizeof(virtio)}, {(void *)frame->data, frame->len}};
	ssize_t n = writev(wire->inject, part, 2);

	/* A packet that a program drops is told as ENOBUFS. */
	if (n < 0 && errno != ENOBUFS)
		fail_msg("cannot send %zu bytes: %s", frame->len, strerror(errno));
}

static void read_offload(const struct virtio_net_hdr *virtio, size_t tag, struct offload *ret)
{
	bool partial = virtio->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM;
	uint8_t type = virtio->gso_type & ~VIRTIO_NET_HDR_GSO_ECN;

	*ret = (struct offload){
	    .partial = partial,
	    .csum_start = partial ? virtio->csum_start + tag : 0,
	    .segment_size = type ? virtio->gso_size : 0,
	    .ipv6 = type == VIRTIO_NET_HDR_GSO_TCPV6,
	};
	assert_true(!partial || virtio->csum_offset == TCP_CHECKSUM_OFFSET);
}

void wire_receive(struct wire *wire, struct frame *ret_frame, struct offload *ret_offload)
{
	struct pollfd ready = {.fd = wire->capture, .events = POLLIN};
	struct virtio_net_hdr virtio;
	char control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	struct iovec part[2] = {{&virtio, sizeof(virtio)},
				{ret_frame->data, sizeof(ret_frame->data) - 4}};
	struct msghdr msg = {.msg_iov = part,
			     .msg_iovlen = 2,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	ssize_t n;

	if (poll(&ready, 1, PATIENCE) != 1)
		fail_msg("no frame arrived at the far end");
	n = recvmsg(wire->capture, &msg, 0);
	assert_true(n >= (ssize_t)sizeof(virtio));
	ret_frame->len = n - sizeof(virtio);
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level == SOL_PACKET && c->cmsg_type == PACKET_AUXDATA)
			restore_tag(ret_frame, (const struct tpacket_auxdata *)CMSG_DATA(c));
	}
	if (ret_offload)
		read_offload(&virtio, ret_frame->len - (n - sizeof(virtio)), ret_offload);
}

void wire_set_mtu(struct wire *wire, unsigned int mtu)
{
	char command[100];

	(void)wire;
	snprintf(command, sizeof(command),
		 "ip link set " NEAR " mtu %u && ip link set " FAR " mtu %u", mtu, mtu);
	assert_int_equal(system(command), 0);
}

void wire_expect_silence(struct wire *wire)
{
	struct pollfd ready = {.fd = wire->capture, .events = POLLIN};

	assert_int_equal(poll(&ready, 1, 0), 0);
}
