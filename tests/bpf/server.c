// SPDX-License-Identifier: Apache-2.0
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

#include "server.h"
#include "tc.skel.h"

/* tcp(7) says nothing of these queues. */
#define RECEIVE_QUEUE 1
#define SEND_QUEUE    2

/* Few requests share the first places: see request_drawn(). */
#define PLACES 1024

/* Our address there. */
#define OWN_NAME "lo:1"

static void set(int fd, int option, int value)
{
	assert_int_equal(setsockopt(fd, IPPROTO_TCP, option, &value, sizeof(value)), 0);
}

static struct sockaddr_in address(const uint8_t *ip, uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};

	memcpy(&a.sin_addr, ip, sizeof(a.sin_addr));
	return a;
}

/* Our address is one of loopback's, and so the peer has a route. */
static void make_address(int fd)
{
	struct ifreq up = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	struct ifreq own = {.ifr_name = OWN_NAME};
	struct sockaddr_in a = address(our_ipv4, 0);

	memcpy(&own.ifr_addr, &a, sizeof(a));
	assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &up), 0);
	assert_int_equal(ioctl(fd, SIOCSIFADDR, &own), 0);
}

/* A socket under repair is connected without a packet. */
static int connected(const struct conn *c)
{
	struct sockaddr_in own = address(our_ipv4, c->port), peer = address(peer_ipv4, PEER_PORT);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	make_address(fd);
	set(fd, TCP_REPAIR, 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof(own)), 0);
	set(fd, TCP_REPAIR_QUEUE, RECEIVE_QUEUE);
	set(fd, TCP_QUEUE_SEQ, (int)c->peer_next);
	set(fd, TCP_REPAIR_QUEUE, SEND_QUEUE);
	set(fd, TCP_QUEUE_SEQ, (int)c->stream.first);
	assert_int_equal(connect(fd, (struct sockaddr *)&peer, sizeof(peer)), 0);
	return fd;
}

void server_open(struct server *s, struct rig *rig)
{
	conn_meet(&s->conn, rig, &ordinary);
	s->fd = connected(&s->conn);
}

void server_close(struct server *s)
{
	struct ifreq down = {.ifr_name = OWN_NAME};

	/* Other tests route packets of this address. */
	assert_int_equal(ioctl(s->fd, SIOCSIFFLAGS, &down), 0);
	close(s->fd);
}

static void put_in_queue(int fd, int queue, const void *bytes, size_t len)
{
	set(fd, TCP_REPAIR_QUEUE, queue);
	assert_int_equal(send(fd, bytes, len, 0), len);
}

void server_take_in(struct server *s, size_t len)
{
	static const uint8_t bytes[FRAME_MAX];

	put_in_queue(s->fd, RECEIVE_QUEUE, bytes, len);
}

void server_receive(struct server *s, const char *data)
{
	conn_answer(&s->conn, data);
	server_take_in(s, strlen(data));
}

void server_receive_at(struct server *s, int ahead, const char *data)
{
	struct incoming in = {.data = data,
			      .ack = stream_to_wire(&s->conn.stream, s->conn.stream.len)};
	uint8_t options[40];
	struct segment segment = conn_incoming(&s->conn, &in, options);

	segment.seq += ahead;
	conn_pass(&s->conn, &segment);
}

void server_send(struct server *s, const char *data)
{
	conn_send(&s->conn, data);
	put_in_queue(s->fd, SEND_QUEUE, data, strlen(data));
}

size_t server_open_requests(const struct server *s, struct request *ret_any)
{
	int fd = bpf_map__fd(s->conn.rig->tc->maps.requests);
	__u32 places = PLACES, next;
	struct request *all = calloc(places, sizeof(*all));
	__u32 *at = calloc(places, sizeof(*at));
	size_t n = 0;

	assert_true(all && at);
	assert_int_equal(bpf_map_lookup_batch(fd, NULL, &next, at, all, &places, NULL), 0);
	for (__u32 i = 0; i < places; i++) {
		if (!all[i].id)
			continue;
		n++;
		*ret_any = all[i];
	}
	free(all);
	free(at);
	return n;
}

uint32_t server_arrivals(const struct server *s, struct arrival *ret_last)
{
	int sockets = bpf_map__fd(s->conn.rig->tc->maps.sockets), fd = s->fd;
	int inboxes = bpf_map__fd(s->conn.rig->tc->maps.inboxes);
	struct socket socket = {};
	struct inbox box;
	__u32 place;

	if (bpf_map_lookup_elem(sockets, &fd, &socket))
		return 0;
	box = socket.own;
	place = inbox_place(socket.inbox);
	if (socket.inbox > INBOX_OWN)
		assert_int_equal(bpf_map_lookup_elem(inboxes, &place, &box), 0);
	*ret_last = box.arrival[(box.end - 1) % SOCKET_ARRIVALS];
	return box.end;
}
