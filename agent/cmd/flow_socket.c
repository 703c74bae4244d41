// SPDX-License-Identifier: Apache-2.0
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <netinet/tcp.h>
#include <sys/utsname.h>
#include <bpf/bpf.h>

#include "base/cgroup.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/proc.h"
#include "cmd/flow_socket.h"
#include "engine/model.h"
#include "engine/traces.h"
#include "load/node_maps.h"
#include "pins/pins.h"

#define NS_PER_MS 1000000ULL
#define NS_PER_US 1000ULL

#define NAME_ROW(id, name, text) name,

/* As ss names them. */
static const char *const states[] = {
    [TCP_ESTABLISHED] = "estab",   [TCP_SYN_SENT] = "syn-sent",     [TCP_SYN_RECV] = "syn-recv",
    [TCP_FIN_WAIT1] = "fin-wait1", [TCP_FIN_WAIT2] = "fin-wait2",   [TCP_TIME_WAIT] = "time-wait",
    [TCP_CLOSE] = "close",         [TCP_CLOSE_WAIT] = "close-wait", [TCP_LAST_ACK] = "last-ack",
    [TCP_LISTEN] = "listen",       [TCP_CLOSING] = "closing",
};

static const char *state_name(__u32 state)
{
	const char *name = state < sizeof(states) / sizeof(states[0]) ? states[state] : NULL;

	return name ? name : "unknown";
}

static json_int_t elapsed_us(__u64 since_ns, __u64 now_ns)
{
	return now_ns > since_ns ? (json_int_t)((now_ns - since_ns) / NS_PER_US) : 0;
}

static __u64 age_ns(const struct record_entry *socket, __u64 now_ns)
{
	__u64 since = socket->record.since_ns;

	return since && now_ns > since ? now_ns - since : 0;
}

/* The descriptor by which a process holds the socket, or -1. */
static int fd_of(const struct record_entry *socket, const struct record_thread *who)
{
	int fd = socket->inode ? proc_socket_fd(who->tgid, socket->inode) : -1;

	return fd < 0 ? -1 : fd;
}

static void print_thread(const char *does, const struct record_entry *socket,
			 const struct record_thread *who)
{
	char comm[PROC_COMM_MAX];
	int fd;

	if (!who->tgid)
		return;
	fd = fd_of(socket, who);
	printf("  %s:(\"%s\",pid=%u,tid=%u", does, proc_comm(comm, who->tgid, who->tid), who->tgid,
	       who->tid);
	if (fd >= 0)
		printf(",fd=%d", fd);
	putchar(')');
}

static void print_extended(const struct record_entry *socket, __u64 now_ns)
{
	char cgroup[PATH_MAX];

	printf("  %s", state_name(socket->state));
	if (socket->record.since_ns)
		printf(" since:%.1fs", (double)age_ns(socket, now_ns) / NS_PER_SECOND);
	printf(" in:%llu out:%llu exchanges:%u", (unsigned long long)socket->bytes_in,
	       (unsigned long long)socket->bytes_out, socket->exchanges);
	if (socket->inode)
		printf(" ino:%llu", (unsigned long long)socket->inode);
	printf(" netns:%llx", (unsigned long long)socket->ends.netns);
	if (socket->record.cgroup && !cgroup_path(socket->record.cgroup, cgroup, sizeof(cgroup)))
		printf(" cgroup:%s", cgroup);
}

void flow_socket_print(const struct record_entry *socket, const struct command_flags *flags,
		       __u64 now_ns)
{
	if (!socket)
		return;
	if (flags->processes) {
		print_thread("reader", socket, &socket->record.reader);
		print_thread("writer", socket, &socket->record.writer);
	}
	if (flags->extended)
		print_extended(socket, now_ns);
}

static json_t *thread_json(const struct record_entry *socket, const struct record_thread *who)
{
	char comm[PROC_COMM_MAX];
	int fd;

	if (!who->tgid)
		return json_null();
	fd = fd_of(socket, who);
	/* A thread that is gone has no name; a name may be no UTF-8. */
	return json_pack("{sI, sI, so?, so?}", "pid", (json_int_t)who->tgid, "tid",
			 (json_int_t)who->tid, "name",
			 *proc_comm(comm, who->tgid, who->tid) ? json_string(comm) : NULL, "fd",
			 fd < 0 ? NULL : json_integer(fd));
}

static const char *const evidence_names[] = {CTXPROP_EVIDENCE(NAME_ROW)};
static const char *const veto_names[] = {CTXPROP_VETO(NAME_ROW)};

/* Why the last call of a client is whose; null before there is one. */
static json_t *call_json(const struct record_entry *socket)
{
	if (!(socket->flags & SOCKET_CLIENT) || !socket->exchanges)
		return json_null();
	return json_pack("{ss, ss, sb}", "evidence",
			 socket->evidence < EVIDENCE_COUNT ? evidence_names[socket->evidence] : "?",
			 "veto", socket->veto < VETO_COUNT ? veto_names[socket->veto] : "?",
			 "outstanding", (int)socket->outstanding);
}

static json_t *hex_json(const __u8 *id, size_t size)
{
	char text[HEX_TRACE];

	return json_string(hex_text(text, id, size));
}

/* Its program may have begun a trace for it. */
static void read_adopted(struct request *request)
{
	char path[PINS_PATH_MAX];
	struct traces_ctx shown;

	if (!(request->flags & REQUEST_ADOPTED))
		return;
	_cleanup_close_ int fd = bpf_obj_get(pins_map_path(path, node_maps_layer_dir(), "adopted"));

	if (fd >= 0 && !bpf_map_lookup_elem(fd, &request->id, &shown))
		memcpy(request->context.trace_id, shown.trace_id, sizeof(shown.trace_id));
}

/* The request that is served, or that the last call is made for; null when it is over. */
static json_t *request_json(const struct record_entry *socket, __u64 now_ns)
{
	char path[PINS_PATH_MAX];
	_cleanup_close_ int fd =
	    bpf_obj_get(pins_map_path(path, node_maps_layer_dir(), "requests"));
	__u32 place = request_place(socket->request);
	struct request request;

	if (fd < 0 || !socket->request || bpf_map_lookup_elem(fd, &place, &request) ||
	    request.id != socket->request)
		return json_null();
	read_adopted(&request);
	return json_pack(
	    "{so, so, so?, sI, so?, sI}", "trace_id",
	    hex_json(request.context.trace_id, sizeof(request.context.trace_id)), "span_id",
	    hex_json(request.context.span_id, sizeof(request.context.span_id)), "parent_id",
	    request.flags & (REQUEST_ROOT | REQUEST_PEER)
		? NULL
		: hex_json(request.parent_id, sizeof(request.parent_id)),
	    "age_us", elapsed_us(request.arrived_ns, now_ns), "taken_us",
	    request.taken_ns ? json_integer(elapsed_us(request.taken_ns, now_ns)) : NULL, "calls",
	    (json_int_t)request.calls);
}

json_t *flow_socket_json(const struct record_entry *socket, __u64 now_ns)
{
	char cgroup[PATH_MAX], netns[2 * sizeof(__u64) + 1];
	struct utsname node = {};
	bool placed;

	if (!socket)
		return json_null();
	uname(&node);
	snprintf(netns, sizeof(netns), "%llx", (unsigned long long)socket->ends.netns);
	placed =
	    socket->record.cgroup && !cgroup_path(socket->record.cgroup, cgroup, sizeof(cgroup));
	return json_pack(
	    "{ss, ss, ss?, sI, ss, sI, so?, sI, sI, sI, sb, so, so, so, so}", "node", node.nodename,
	    "netns", netns, "cgroup", placed ? cgroup : NULL, "cgroup_id",
	    (json_int_t)socket->record.cgroup, "state", state_name(socket->state), "inode",
	    (json_int_t)socket->inode, "age_ms",
	    socket->record.since_ns ? json_integer((json_int_t)(age_ns(socket, now_ns) / NS_PER_MS))
				    : NULL,
	    "bytes_in", (json_int_t)socket->bytes_in, "bytes_out", (json_int_t)socket->bytes_out,
	    "exchanges", (json_int_t)socket->exchanges, "reused", socket->exchanges > 1, "reader",
	    thread_json(socket, &socket->record.reader), "writer",
	    thread_json(socket, &socket->record.writer), "request", request_json(socket, now_ns),
	    "call", call_json(socket));
}
