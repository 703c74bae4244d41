/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs under test, loaded once, in a network namespace of their own: run them on single
 * packets, look at their counters and flows. Those for devices without Ethernet header are loaded
 * when a test first asks for them: the verifier takes its time, under emulation above all.
 */
#ifndef CTXPROP_TEST_RIG_H
#define CTXPROP_TEST_RIG_H

#include <stdint.h>

#include "abi.h"
#include "packet.h"

/* TC_ACT_UNSPEC and TC_ACT_SHOT, the only verdicts there are. */
#define VERDICT_NEXT (-1)
#define VERDICT_DROP 2

/* The namespace that the programs believe to serve; its low 14 bits are not 0. */
#define RIG_NETNS 0x00c0ffee

struct tc;

struct rig {
	struct tc *tc; /* for devices with an Ethernet header; its maps are those of both */
	struct tc *ip; /* for others; NULL: not asked for yet */
	uint64_t counted[REASON_COUNT]; /* at the last check */
	uint16_t port;                  /* of the newest connection */
};

enum hook { HOOK_OUT, HOOK_IN };

/* How a packet meets a program; all zero is the ordinary way. */
struct meeting {
	unsigned int ifindex; /* 0: loopback */
	uint32_t gso_size;
	uint32_t times; /* the program runs on one packet; 0: once */
};

struct count {
	enum ctxprop_reason reason;
	uint64_t times;
};

/* Load the programs with room for `flows` flows. Fails the test if that is not possible. */
struct rig *rig_open(uint32_t flows);
/* The same, of which each sender has a share. */
struct rig *rig_open_with_shares(uint32_t flows);
/* The same, in which requests of HTTP/2 get headers, too. */
struct rig *rig_open_with_http2(uint32_t flows);
void rig_close(struct rig *rig);

/*
 * cmocka: a rig as the state of a group of tests. All groups of a process have the same one, so
 * that the programs are verified once; rig_close_shared() at the end of the process.
 */
int rig_setup(void **state);
int rig_teardown(void **state);
void rig_close_shared(void);

/* The file descriptor of the program for a hook and a kind of device. */
int rig_program(struct rig *rig, enum hook hook, const struct shape *shape);

/* Run a program on a frame, which is changed as the program does it. Returns the verdict. */
int rig_run(struct rig *rig, enum hook hook, const struct shape *shape,
	    const struct meeting *meeting, struct frame *frame);

/* Switch editing off or on. */
void rig_pause(struct rig *rig, bool paused);

/* Copy the flow of our port. Returns false when there is none. */
bool rig_flow(const struct rig *rig, const struct shape *shape, uint16_t port,
	      struct flow *ret_flow);

/* Take the flow of our port out of the table, as a daemon does with one that is dead. */
void rig_remove_flow(const struct rig *rig, const struct shape *shape, uint16_t port);

/* How many flows there are. */
size_t rig_flows(const struct rig *rig);

/* Is the offset of a closed flow of our port kept, and which one? */
bool rig_linger(const struct rig *rig, const struct shape *shape, uint16_t port,
		uint32_t *ret_offset);

/*
 * Since the last check exactly these counters moved, by so much; all others stood still. Without
 * any: none moved.
 */
#define expect_counts(rig, ...)                                                                    \
	rig_expect_counts(rig, (const struct count[]){__VA_ARGS__},                                \
			  sizeof((const struct count[]){__VA_ARGS__}) / sizeof(struct count),      \
			  __FILE__, __LINE__)
void rig_expect_counts(struct rig *rig, const struct count *counts, size_t n, const char *file,
		       int line);

/* Take the counters as they are. */
void rig_forget_counts(struct rig *rig);

/* How often a reason was counted since the last check. */
uint64_t rig_count(const struct rig *rig, enum ctxprop_reason reason);

/* The frames are the same, byte for byte; else the test fails and shows both. */
#define expect_frame(got, want) rig_expect_frame(got, want, __FILE__, __LINE__)
void rig_expect_frame(const struct frame *got, const struct frame *want, const char *file,
		      int line);

#endif
