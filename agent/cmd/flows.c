// SPDX-License-Identifier: Apache-2.0
#include <endian.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <bpf/bpf.h>

#include "abi.h"
#include "base/address.h"
#include "base/cgroup.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/proc.h"
#include "base/reason_names.h"
#include "cmd/command.h"
#include "cmd/flow_why.h"
#include "cmd/json.h"
#include "engine/model.h"
#include "engine/record.h"
#include "engine/traces.h"
#include "flows/records.h"
#include "flows/stacks.h"
#include "inspect/code_location.h"
#include "load/node_maps.h"
#include "load/table.h"
#include "pins/pins.h"

/* The address of each call but the last is one that it returns to. */
static int find(const struct record_stack *stack, __u32 i, struct code_location *ret)
{
	return code_location_find(stack->who.tgid, stack->address[i], i > 0, ret);
}

static void print_frame(const struct record_stack *stack, __u32 i)
{
	struct code_location location;
	const char *file;

	printf("\t%016llx", (unsigned long long)stack->address[i]);
	if (!find(stack, i, &location)) {
		file = strrchr(location.module, '/');
		if (*location.function)
			printf(" %s+0x%llx", location.function, (unsigned long long)location.into);
		printf(" (%s+0x%llx)", file ? file + 1 : location.module,
		       (unsigned long long)location.offset);
	}
	putchar('\n');
}

/* Print lines of text; none without a stack. */
static void flow_stack_print(const struct record_stack_entry *entry)
{
	const struct record_stack *stack = entry ? &entry->stack : NULL;
	char comm[PROC_COMM_MAX];

	if (!stack)
		return;
	printf("    sent by \"%s\",pid=%u,tid=%u\n",
	       proc_comm(comm, stack->who.tgid, stack->who.tid), stack->who.tgid, stack->who.tid);
	for (__u32 i = 0; i < stack->depth && i < RECORD_STACK_MAX; i++)
		print_frame(stack, i);
}

static json_t *frame_json(const struct record_stack *stack, __u32 i)
{
	struct code_location location;
	bool known = !find(stack, i, &location);

	/* Names of files and functions may be no UTF-8. */
	return json_pack("{sI, so?, sI, so?, sI}", "address", (json_int_t)stack->address[i],
			 "module", known ? json_string(location.module) : NULL, "offset",
			 (json_int_t)location.offset, "function",
			 *location.function ? json_string(location.function) : NULL, "into",
			 (json_int_t)location.into);
}

/* The same; null without a stack. */
static json_t *flow_stack_json(const struct record_stack_entry *entry)
{
	const struct record_stack *stack = entry ? &entry->stack : NULL;
	json_t *frames;

	if (!stack)
		return json_null();
	frames = json_array();
	for (__u32 i = 0; i < stack->depth && i < RECORD_STACK_MAX; i++)
		json_array_append_new(frames, frame_json(stack, i));
	return json_pack("{sI, sI, so}", "pid", (json_int_t)stack->who.tgid, "tid",
			 (json_int_t)stack->who.tid, "frames", frames);
}

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

/* Print what the flags ask for behind a line of text, without ending it. */
static void flow_socket_print(const struct record_entry *socket, const struct command_flags *flags,
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

/* All of it; null without a socket. */
static json_t *flow_socket_json(const struct record_entry *socket, __u64 now_ns)
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

#define STACKS_SECONDS 1 /* how long stacks are recorded */
#define COUNT_TEXT_MAX 16
#define COUNT_FULL     100000 /* smaller counts are printed to the last digit */

const struct option_row command_flows_options[] = {
    {"processes", 'p', NULL, "who reads and writes: process, thread, descriptor",
     .flag = &command_flags.processes},
    {"extended", 'e', NULL, "the socket's state, age, bytes, reuse, namespace and cgroup",
     .flag = &command_flags.extended},
    {"all", 'a', NULL, "of all network namespaces in which the same ctxpropd works",
     .flag = &command_flags.all},
    {"stacks", 'k', NULL, "the stacks of threads that send within the next second",
     .flag = &command_flags.stacks},
    {"explain", 'x', NULL, "why the last call belongs to its trace, or to a new one",
     .flag = &command_flags.explain},
    {},
};

/* Where the flows are printed to. */
struct listing {
	__u64 now_ns;
	__u32 netns;   /* of which network namespace; 0: of all */
	json_t *array; /* NULL: text */
	const struct command_flags *flags;
	struct told sockets; /* empty where they are not asked for, or not followed */
	struct told stacks;  /* likewise */
	unsigned long listed;
	struct flow_why why;
};

static const char *state_of(const struct flow *flow)
{
	if (flow->flags & FLOW_OPAQUE)
		return "opaque";
	return flow->flags & FLOW_LEARN ? "learning" : "http";
}

/* Why a flow is opaque, or NULL. */
static const char *reason_of(const struct flow *flow)
{
	const struct reason_row *row = reason_row(flow->opaque_reason);

	return flow->flags & FLOW_OPAQUE && row ? row->name : NULL;
}

/* A count in five characters: 12345, 678k, 90M. */
static const char *count_text(char buffer[COUNT_TEXT_MAX], unsigned long long count)
{
	const char *unit = "";

	for (const char *next = "kMGT"; count >= COUNT_FULL && *next; next++) {
		count /= 1000;
		unit = next;
	}
	snprintf(buffer, COUNT_TEXT_MAX, "%llu%.1s", count, unit);
	return buffer;
}

/* A time in four characters, with its unit: 0.4s, 59s, 12m, 3h, 40d. */
static const char *time_text(char buffer[COUNT_TEXT_MAX], __u64 ns)
{
	unsigned long long seconds = ns / NS_PER_SECOND;

	if (seconds < 10)
		snprintf(buffer, COUNT_TEXT_MAX, "%llu.%llus", seconds,
			 (unsigned long long)(ns / (100 * NS_PER_MS) % 10));
	else if (seconds < 100)
		snprintf(buffer, COUNT_TEXT_MAX, "%llus", seconds);
	else if (seconds < 100 * 60ULL)
		snprintf(buffer, COUNT_TEXT_MAX, "%llum", seconds / 60);
	else if (seconds < 100 * 3600ULL)
		snprintf(buffer, COUNT_TEXT_MAX, "%lluh", seconds / 3600);
	else
		snprintf(buffer, COUNT_TEXT_MAX, "%llud", seconds / 86400);
	return buffer;
}

static void print_flow(const struct listing *listing, const struct flow_key *key,
		       const struct flow *flow)
{
	char src[ENDPOINT_TEXT_MAX], dst[ENDPOINT_TEXT_MAX];
	char requests[COUNT_TEXT_MAX], headers[COUNT_TEXT_MAX], added[COUNT_TEXT_MAX],
	    idle[COUNT_TEXT_MAX];
	const char *reason = reason_of(flow);

	colour_print(flow->flags & (FLOW_OPAQUE | FLOW_LEARN) ? COLOUR_CAUTION : COLOUR_GOOD,
		     "%-10s", reason ? reason : state_of(flow));
	printf(" %5s %5s %5sB %4s", count_text(requests, flow->requests),
	       count_text(headers, flow->injected), count_text(added, table_offset(flow)),
	       time_text(idle, table_idle_ns(flow, listing->now_ns)));
	colour_print(COLOUR_ADDRESS, "  %s  %s", address_endpoint(src, key->src, key->sport),
		     address_endpoint(dst, key->dst, key->dport));
	fputs(flow->flags & FLOW_SERVER      ? "  server"
	      : flow->flags & FLOW_FORWARDED ? "  forwarded"
					     : "",
	      stdout);
	if (!listing->netns)
		printf("  netns:%x", key->netns);
	flow_socket_print(told_find(&listing->sockets, key), listing->flags, listing->now_ns);
	putchar('\n');
	flow_stack_print(told_find(&listing->stacks, key));
	flow_why_print(&listing->why, key);
}

static json_t *flow_json(const struct listing *listing, const struct flow_key *key,
			 const struct flow *flow)
{
	char src[ADDRESS_TEXT_MAX], dst[ADDRESS_TEXT_MAX], netns[2 * sizeof(key->netns) + 1];

	snprintf(netns, sizeof(netns), "%x", key->netns);
	return json_pack("{ss, ss, si, ss, si, ss, ss?, sb, sb, sI, sI, sI, si, sI, so, so, so}",
			 "netns", netns, "src", address_text(src, key->src), "sport",
			 be16toh(key->sport), "dst", address_text(dst, key->dst), "dport",
			 be16toh(key->dport), "state", state_of(flow), "reason", reason_of(flow),
			 "forwarded", !!(flow->flags & FLOW_FORWARDED), "server",
			 !!(flow->flags & FLOW_SERVER), "requests", (json_int_t)flow->requests,
			 "injected", (json_int_t)flow->injected, "offset",
			 (json_int_t)table_offset(flow), "edits", (int)table_edits(flow), "idle_ms",
			 (json_int_t)(table_idle_ns(flow, listing->now_ns) / NS_PER_MS), "socket",
			 flow_socket_json(told_find(&listing->sockets, key), listing->now_ns),
			 "stack", flow_stack_json(told_find(&listing->stacks, key)), "why",
			 flow_why_json(&listing->why, key));
}

static void print_heading(void)
{
	printf("%-10s %5s %5s %6s %4s  %s\n", "STATE", "REQS", "HDRS", "ADDED", "IDLE", "FROM  TO");
}

static void list_flow(const struct flow_key *key, const struct flow *flow, void *data)
{
	struct listing *listing = data;

	if (listing->netns && key->netns != listing->netns)
		return;
	if (!listing->listed++ && !listing->array && !listing->flags->oneline)
		print_heading();
	if (listing->array)
		json_array_append_new(listing->array, flow_json(listing, key, flow));
	else
		print_flow(listing, key, flow);
}

/* Without records of sockets JSON has null; an option that asks for them is refused with the
 * reason. */
static int read_sockets(struct listing *listing)
{
	const struct command_flags *flags = listing->flags;
	int err;

	if (!flags->json && !flags->processes && !flags->extended)
		return COMMAND_OK;
	err = records_read(listing->netns, &listing->sockets);
	if (!err || flags->json)
		return COMMAND_OK;
	return command_refuse("what is known of sockets cannot be read: %s",
			      err == -ENOENT ? "ctxpropd follows no requests on this node"
					     : strerror(-err));
}

static int gather_stacks(struct listing *listing)
{
	int err;

	if (!listing->flags->stacks)
		return COMMAND_OK;
	err = stacks_gather(listing->netns, STACKS_SECONDS, &listing->stacks);
	return !err ? COMMAND_OK
		    : command_refuse("stacks cannot be gathered: %s",
				     err == -ENOENT ? "ctxpropd follows no requests on this node"
						    : strerror(-err));
}

/* Why calls belong to their traces. */
static int ask_why(struct listing *listing, __u32 netns)
{
	int err = listing->flags->explain ? flow_why_open(&listing->why, netns) : 0;

	return !err ? COMMAND_OK
		    : command_refuse("what is known of calls cannot be read: %s",
				     err == -ENOENT ? "ctxpropd follows no requests on this node"
						    : strerror(-err));
}

static int list_flows(int fd, struct listing *listing)
{
	int err;

	if (listing->flags->json)
		listing->array = json_array();
	err = table_each(fd, list_flow, listing);
	if (!err && !listing->listed && !listing->array && !listing->flags->oneline)
		puts("no live connections");
	if (!err)
		return listing->array ? json_print(listing->array) : COMMAND_OK;
	json_decref(listing->array);
	return command_refuse("the flow table cannot be read: %s", strerror(-err));
}

int command_flows(const struct pins *pins, const struct command_flags *flags)
{
	_cleanup_close_ int fd = command_open_map(pins, "flows");
	struct listing listing = {.netns = flags->all ? 0 : (__u32)pins->cookie, .flags = flags};
	int exit_code;

	if (fd < 0)
		return COMMAND_REFUSED;
	exit_code = gather_stacks(&listing);
	listing.now_ns = clock_now_ns();
	if (exit_code == COMMAND_OK)
		exit_code = read_sockets(&listing);
	if (exit_code == COMMAND_OK)
		exit_code = ask_why(&listing, (__u32)pins->cookie);
	if (exit_code == COMMAND_OK)
		exit_code = list_flows(fd, &listing);
	told_free(&listing.sockets);
	told_free(&listing.stacks);
	flow_why_close(&listing.why);
	return exit_code;
}
