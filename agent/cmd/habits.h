/* SPDX-License-Identifier: Apache-2.0 */
/* What a process has shown of its habits (bpf/engine/habits.h), for those who explain decisions.
 */
#ifndef CTXPROP_CMD_HABITS_H
#define CTXPROP_CMD_HABITS_H

#include "engine/habits.h"

enum habit_state { HABIT_SHOWN, HABIT_NOT_YET, HABIT_BROKEN };

/*
 * A habit of a process now. `port` is that of the peer, in host byte order. `ret_kept`: how often
 * it was kept, 0 where that is not counted. Returns -1 for habits that are not the process's but of
 * one loop, peer or program in it (ORDERLY, ROOM, OBJECTS_CLEAR); else enum habit_state.
 */
int habit_of(enum habit_id id, const struct process *p, __u16 port, __u32 *ret_kept);

#endif
