// SPDX-License-Identifier: Apache-2.0
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "base/proc.h"
#include "base/reason_names.h"
#include "base/rule_names.h"
#include "cmd/flow_why.h"
#include "engine/habits.h"
#include "flows/sockets.h"
#include "load/node_maps.h"
#include "pins/pins.h"

enum habit_state { HABIT_SHOWN, HABIT_NOT_YET, HABIT_BROKEN };

#define PORT_BITS 63

/* A habit that is not believed: broken, as far as it could have been believed otherwise? */
static enum habit_state habit_lacks(struct habit h, enum habit_id id)
{
	const struct habit_rule *rule = &habit_rules[id];
	int often = h.kept >= rule->least;

	return h.broken && (often || !rule->ratio) ? HABIT_BROKEN : HABIT_NOT_YET;
}

/*
 * A habit of a process now. `port` is that of the peer, in host byte order. `ret_kept`: how often
 * it was kept, 0 where that is not counted. Returns -1 for habits that are not the process's but of
 * one loop, peer or program in it (ORDERLY, ROOM, OBJECTS_CLEAR); else enum habit_state.
 */
static int habit_of(enum habit_id id, const struct process *p, __u16 port, __u32 *ret_kept)
{
	*ret_kept = id < HABIT_COUNT ? p->habit[id].kept : 0;
	if (id == HABIT_SINGLE_USE)
		return process_is_single_use(p, 1ULL << (port & PORT_BITS)) ? HABIT_SHOWN
									    : HABIT_BROKEN;
	if (id >= HABIT_COUNT)
		return -1;
	return process_has_habit(p, id) ? HABIT_SHOWN : (int)habit_lacks(p->habit[id], id);
}

static const char *const state_names[] = {
    [HABIT_SHOWN] = "shown", [HABIT_NOT_YET] = "not yet", [HABIT_BROKEN] = "broken"};

/* The last call of a connection, and the process that has made it. */
struct last {
	struct call call;
	struct process process;
	bool has_process; /* it has taken requests */
	__u16 port;       /* of the peer, in host byte order */
};

static int open_map(const char *name)
{
	char path[PINS_PATH_MAX];

	return bpf_obj_get(pins_map_path(path, node_maps_layer_dir(), name));
}

int flow_why_open(struct flow_why *ret_why, __u32 netns)
{
	*ret_why = (struct flow_why){.wanted = true, .netns = netns};
	ret_why->sockets_fd = open_map("sockets");
	ret_why->processes_fd = open_map("processes");
	if (ret_why->sockets_fd < 0)
		return ret_why->sockets_fd;
	return ret_why->processes_fd < 0 ? ret_why->processes_fd : holders_read(&ret_why->holders);
}

void flow_why_close(struct flow_why *why)
{
	if (!why->wanted)
		return;
	cleanup_close(&why->sockets_fd);
	cleanup_close(&why->processes_fd);
	holders_free(&why->holders);
}

/* 0, or -ENOENT: nothing is known of calls on the connection. */
static int find(const struct flow_why *why, const struct flow_key *key, struct last *ret_last)
{
	struct tuple tuple = {.sport = key->sport, .dport = key->dport};
	struct socket socket;

	if (!why->wanted || key->netns != why->netns)
		return -ENOENT;
	memcpy(tuple.src, key->src, sizeof(tuple.src));
	memcpy(tuple.dst, key->dst, sizeof(tuple.dst));
	if (holders_socket(&why->holders, why->sockets_fd, sockets_inode(&tuple), &socket) ||
	    !(socket.flags & SOCKET_CLIENT) || !socket.calls_end)
		return -ENOENT;
	ret_last->call = *socket_last_call(&socket);
	ret_last->port = be16toh(key->dport);
	ret_last->has_process =
	    !bpf_map_lookup_elem(why->processes_fd, &ret_last->call.tgid, &ret_last->process) &&
	    ret_last->process.served;
	return 0;
}

static void print_process(const struct last *last)
{
	const struct process *p = &last->process;
	char comm[PROC_COMM_MAX];

	printf("    process %-24s pid %u: ", proc_comm(comm, last->call.tgid, last->call.tid),
	       last->call.tgid);
	if (last->has_process)
		printf("%u requests are open, %u of them may call; %u calls that are not known to "
		       "be any one's\n",
		       tally_open(&p->tally), tally_active(&p->tally), p->tally.unattributed);
	else
		puts("it takes no requests, so there is none that it could call for");
}

static void print_habit(enum habit_id habit, enum habit_state state, __u32 seen)
{
	const struct rule_row *row = rule_row(RULE_HABIT(habit));

	printf("    %-7s %-24s %s", state_names[state], row->name, row->text);
	if (state == HABIT_NOT_YET)
		printf(" (%u of %u)", seen, row->least);
	putchar('\n');
}

/* Those that are shown stand in one line; of the others it is said what they are. */
static void print_habits(const struct last *last)
{
	const char *separator = "    shown   ";
	__u32 seen;

	for (unsigned int habit = 0; habit < HABITS; habit++) {
		if (habit_of(habit, &last->process, last->port, &seen) != HABIT_SHOWN)
			continue;
		printf("%s%s", separator, rule_row(RULE_HABIT(habit))->name);
		separator = ", ";
	}
	if (*separator == ',')
		putchar('\n');
	for (unsigned int habit = 0; habit < HABITS; habit++) {
		int state = habit_of(habit, &last->process, last->port, &seen);

		if (state > HABIT_SHOWN)
			print_habit(habit, (enum habit_state)state, seen);
	}
}

static const struct reason_row *evidence_row(const struct call *call)
{
	return reason_row(call->evidence < EVIDENCE_COUNT ? REASON_EVIDENCE_NONE + call->evidence
							  : REASON_EVIDENCE_NONE);
}

/* NULL: there was none. */
static const struct reason_row *veto_row(const struct call *call)
{
	return call->veto && call->veto < VETO_COUNT ? reason_row(REASON_VETO_NONE + call->veto)
						     : NULL;
}

void flow_why_print(const struct flow_why *why, const struct flow_key *key)
{
	const struct reason_row *evidence, *veto;
	struct last last;

	if (find(why, key, &last))
		return;
	evidence = evidence_row(&last.call);
	veto = veto_row(&last.call);
	printf("    call    %-24s %s\n", evidence->name, evidence->text);
	if (veto)
		printf("    veto    %-24s %s\n", veto->name, veto->text);
	print_process(&last);
	if (last.has_process)
		print_habits(&last);
}

static json_t *row_json(const struct reason_row *row)
{
	return row ? json_pack("{ss, ss}", "name", row->name, "text", row->text) : json_null();
}

static json_t *habits_json(const struct last *last)
{
	json_t *array = json_array();
	__u32 seen;

	for (unsigned int habit = 0; habit < HABITS; habit++) {
		const struct rule_row *row = rule_row(RULE_HABIT(habit));
		int state = habit_of(habit, &last->process, last->port, &seen);

		if (state >= 0)
			json_array_append_new(
			    array, json_pack("{ss, ss, sI, sI, ss}", "name", row->name, "state",
					     state_names[state], "seen", (json_int_t)seen, "least",
					     (json_int_t)row->least, "text", row->text));
	}
	return array;
}

static json_t *requests_json(const struct tally *t)
{
	return json_pack("{sI, sI, sI}", "open", (json_int_t)tally_open(t), "may_call",
			 (json_int_t)tally_active(t), "unattributed", (json_int_t)t->unattributed);
}

json_t *flow_why_json(const struct flow_why *why, const struct flow_key *key)
{
	struct last last;

	if (find(why, key, &last))
		return json_null();
	return json_pack("{so, so, sb, sI, sI, so, so}", "evidence",
			 row_json(evidence_row(&last.call)), "veto", row_json(veto_row(&last.call)),
			 "outstanding", (int)last.call.outstanding, "pid",
			 (json_int_t)last.call.tgid, "tid", (json_int_t)last.call.tid, "requests",
			 last.has_process ? requests_json(&last.process.tally) : json_null(),
			 "habits", last.has_process ? habits_json(&last) : json_null());
}
