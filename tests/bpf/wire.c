// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <cmocka.h>

#include "wire.h"

#define PATIENCE            2000 /* milliseconds */
#define TAG_OFFSET          12   /* of a VLAN tag in a frame */
#define TAG_LEN             4
#define TCP_CHECKSUM_OFFSET 16
#define TTL_OFFSET          8
#define IP_CHECKSUM_OFFSET  10

/* Put back the VLAN tag that the kernel has taken out of the frame. Returns its length. */
static size_t restore_tag(struct frame *f, const struct tpacket_auxdata *aux)
{
	if (!(aux->tp_status & TP_STATUS_VLAN_VALID))
		return 0;
	memmove(f->data + TAG_OFFSET + TAG_LEN, f->data + TAG_OFFSET, f->len - TAG_OFFSET);
	put16(f->data + TAG_OFFSET, aux->tp_vlan_tpid);
	put16(f->data + TAG_OFFSET + 2, aux->tp_vlan_tci);
	f->len += TAG_LEN;
	return TAG_LEN;
}

static uint8_t gso_type(const struct offload *offload)
{
	if (!offload->segment_size)
		return VIRTIO_NET_HDR_GSO_NONE;
	return offload->ipv6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4;
}

/* A router takes one from the TTL of an IPv4 packet: give it one more. */
static void add_hop(struct frame *f)
{
	uint8_t *ip = f->data + ETH_HLEN;
	size_t header = (ip[0] & 15) * 4;

	ip[TTL_OFFSET]++;
	put16(ip + IP_CHECKSUM_OFFSET, 0);
	put16(ip + IP_CHECKSUM_OFFSET, packet_checksum(packet_sum(ip, header, 0)));
}

/* Write a frame to the socket or tunnel `fd`; a router is on its way when `hop` is set. */
static void send_frame(int fd, bool hop, const struct frame *frame, const struct offload *offload)
{
	static struct frame sent;
	struct virtio_net_hdr virtio = {
	    .flags = offload->partial ? VIRTIO_NET_HDR_F_NEEDS_CSUM : 0,
	    .gso_type = gso_type(offload),
	    .hdr_len = offload->partial ? offload->csum_start + 20 : 0,
	    .gso_size = offload->segment_size,
	    .csum_start = offload->partial ? offload->csum_start : 0,
	    .csum_offset = offload->partial ? TCP_CHECKSUM_OFFSET : 0,
	};
	struct iovec part[2] = {{&virtio, sizeof(virtio)}, {sent.data, frame->len}};
	ssize_t n;

	memcpy(sent.data, frame->data, frame->len);
	if (hop)
		add_hop(&sent);
	n = writev(fd, part, 2);
	/* A packet that a program drops is told as ENOBUFS. */
	if (n < 0 && errno != ENOBUFS)
		fail_msg("cannot send %zu bytes: %s", frame->len, strerror(errno));
}

void wire_send(struct wire *wire, const struct frame *frame, const struct offload *offload)
{
	send_frame(wire->inject, wire->kind == WIRE_FORWARDED, frame, offload);
}

void wire_answer(struct wire *wire, const struct frame *frame, const struct offload *offload)
{
	assert_int_equal(wire->kind, WIRE_FORWARDED);
	send_frame(wire->capture, true, frame, offload);
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

/* Read a frame that a socket has captured. Returns the length of the VLAN tag that was put back. */
static size_t read_socket(int fd, struct virtio_net_hdr *ret_virtio, struct frame *ret_frame)
{
	char control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	struct iovec part[2] = {{ret_virtio, sizeof(*ret_virtio)},
				{ret_frame->data, sizeof(ret_frame->data) - TAG_LEN}};
	struct msghdr msg = {.msg_iov = part,
			     .msg_iovlen = 2,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(fd, &msg, 0);

	assert_true(n >= (ssize_t)sizeof(*ret_virtio));
	ret_frame->len = n - sizeof(*ret_virtio);
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level == SOL_PACKET && c->cmsg_type == PACKET_AUXDATA)
			return restore_tag(ret_frame, (const struct tpacket_auxdata *)CMSG_DATA(c));
	}
	return 0;
}

static size_t read_tunnel(int fd, struct virtio_net_hdr *ret_virtio, struct frame *ret_frame)
{
	struct iovec part[2] = {{ret_virtio, sizeof(*ret_virtio)},
				{ret_frame->data, sizeof(ret_frame->data)}};
	ssize_t n = readv(fd, part, 2);

	assert_true(n >= (ssize_t)sizeof(*ret_virtio));
	ret_frame->len = n - sizeof(*ret_virtio);
	return 0;
}

static void receive_frame(int fd, bool tunnel, struct frame *ret_frame, struct offload *ret_offload)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	struct virtio_net_hdr virtio;
	size_t tag;

	if (poll(&ready, 1, PATIENCE) != 1)
		fail_msg("no frame arrived at the far end");
	tag = tunnel ? read_tunnel(fd, &virtio, ret_frame) : read_socket(fd, &virtio, ret_frame);
	if (ret_offload)
		read_offload(&virtio, tag, ret_offload);
}

void wire_receive(struct wire *wire, struct frame *ret_frame, struct offload *ret_offload)
{
	receive_frame(wire->capture, wire->kind == WIRE_TUN, ret_frame, ret_offload);
}

void wire_receive_answer(struct wire *wire, struct frame *ret_frame, struct offload *ret_offload)
{
	receive_frame(wire->inject, true, ret_frame, ret_offload);
}

void wire_expect_silence(struct wire *wire)
{
	struct pollfd ready = {.fd = wire->capture, .events = POLLIN};

	assert_int_equal(poll(&ready, 1, 0), 0);
}
