// SPDX-License-Identifier: Apache-2.0
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <jansson.h>

#include "abi.h"
#include "base/address.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/reason_names.h"
#include "cmd/command.h"
#include "cmd/flow_socket.h"
#include "cmd/flow_stack.h"
#include "cmd/flow_why.h"
#include "cmd/json.h"
#include "flows/records.h"
#include "flows/stacks.h"
#include "load/table.h"

#define NS_PER_MS      1000000ULL
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
