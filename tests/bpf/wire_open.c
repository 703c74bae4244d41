// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_tun.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

#include "wire.h"

#define NEAR "near0"
#define FAR  "far0"
#define TAP  "tap0"

/* No neighbour discovery: only what a test sends is on the link. */
static void silence_ipv6(void)
{
	int fd = open("/proc/sys/net/ipv6/conf/default/disable_ipv6", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	assert_int_equal(write(fd, "1", 1), 1);
	close(fd);
}

static void attach(int prog_fd, unsigned int ifindex, enum bpf_tc_attach_point point)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex, .attach_point = point);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = prog_fd);

	assert_int_equal(bpf_tc_attach(&hook, &opts), 0);
}

static void attach_both(int out, int in, unsigned int ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex,
		    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);

	assert_int_equal(bpf_tc_hook_create(&hook), 0);
	attach(out, ifindex, BPF_TC_EGRESS);
	attach(in, ifindex, BPF_TC_INGRESS);
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

/* A tun or tap device, up, whose frames bring along what they leave to the device. */
static int tunnel(const char *name, short kind)
{
	struct ifreq request = {.ifr_flags = kind | IFF_NO_PI | IFF_VNET_HDR};
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
	char command[60];

	strcpy(request.ifr_name, name);
	snprintf(command, sizeof(command), "ip link set %s up", name);
	if (fd < 0)
		return -1;
	if (ioctl(fd, TUNSETIFF, &request) ||
	    ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) || system(command)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Returns 0, or -1 when this machine has no such devices. */
static int open_veth(struct wire *wire)
{
	if (system("ip link add " NEAR " type veth peer name " FAR " && ip link set " NEAR
		   " up && ip link set " FAR " up"))
		return -1;
	wire->capture = packet_socket(if_nametoindex(FAR), ETH_P_ALL);
	return 0;
}

static int open_local(struct wire *wire)
{
	if (open_veth(wire))
		return -1;
	wire->inject = packet_socket(if_nametoindex(NEAR), 0);
	return 0;
}

/*
 * A router between the tap and the veth device. The devices have the addresses of the frames that
 * packet.h builds, so that they leave as they came, but for the TTL.
 */
static int open_forwarded(struct wire *wire)
{
	wire->inject = tunnel(TAP, IFF_TAP);
	if (wire->inject < 0 || open_veth(wire))
		return -1;
	return system(
	    "ip link set " TAP " address 02:00:00:00:00:02 &&"
	    "ip link set " NEAR " address 02:00:00:00:00:01 &&"
	    "ip address add 8.0.1.254/24 dev " TAP " &&"
	    "ip address add 8.0.2.254/24 dev " NEAR " &&"
	    "ip neighbour add 8.0.1.1 lladdr 02:00:00:00:00:01 nud permanent dev " TAP
	    " && ip neighbour add 8.0.2.2 lladdr 02:00:00:00:00:02 nud permanent dev " NEAR
	    " && echo 1 >/proc/sys/net/ipv4/ip_forward");
}

static int open_tun(struct wire *wire)
{
	wire->capture = tunnel(NEAR, IFF_TUN);
	if (wire->capture < 0)
		return -1;
	wire->inject = packet_socket(if_nametoindex(NEAR), 0);
	return 0;
}

struct wire *wire_open(enum wire_kind kind, int out, int in)
{
	static int (*const open_kind[])(struct wire *) = {
	    [WIRE_LOCAL] = open_local,
	    [WIRE_FORWARDED] = open_forwarded,
	    [WIRE_TUN] = open_tun,
	};
	struct wire *wire = calloc(1, sizeof(*wire));

	assert_non_null(wire);
	*wire = (struct wire){.kind = kind, .capture = -1, .inject = -1};
	silence_ipv6();
	if (open_kind[kind](wire)) {
		print_message("skipped: no veth, tap or tun devices here, or no ip(8)\n");
		wire_close(wire);
		return NULL;
	}
	wire->near = if_nametoindex(NEAR);
	attach_both(out, in, wire->near);
	return wire;
}

void wire_close(struct wire *wire)
{
	if (wire->capture >= 0)
		close(wire->capture);
	if (wire->inject >= 0)
		close(wire->inject);
	/* A tun device is gone with its descriptor; one end of a veth link takes the other along.
	 */
	if (wire->kind != WIRE_TUN && if_nametoindex(NEAR))
		assert_int_equal(system("ip link del " NEAR), 0);
	free(wire);
}

void wire_set_mtu(struct wire *wire, unsigned int mtu)
{
	char command[100];

	assert_int_not_equal(wire->kind, WIRE_TUN);
	snprintf(command, sizeof(command),
		 "ip link set " NEAR " mtu %u && ip link set " FAR " mtu %u", mtu, mtu);
	assert_int_equal(system(command), 0);
}
