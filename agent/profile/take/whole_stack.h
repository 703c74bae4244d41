/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of a stack as people want them: functions of a runtime instead of its interpreter's.
 */
#ifndef CTXPROP_PROFILE_TAKE_WHOLE_STACK_H
#define CTXPROP_PROFILE_TAKE_WHOLE_STACK_H

#include "profile/names/frame_names.h"

#define WHOLE_STACK_MAX (2 * PROFILE_FRAMES_MAX + PROFILE_NAMED_MAX)

/*
 * The frames, the innermost first, into room for WHOLE_STACK_MAX. Each call of the interpreter is
 * replaced by the functions that it runs; where these do not fit what C has called, it is left as
 * it is. A wait begins with the scheduler. Returns how many there are.
 */
size_t whole_stack_frames(const struct frame_names *names, const struct stack *stack,
			  __u64 *ret_frames);

/* Why outer frames are missing there, in brackets; NULL: the stack is whole. */
const char *whole_stack_missing(const struct frame_names *names, const struct stack *stack);

#endif
