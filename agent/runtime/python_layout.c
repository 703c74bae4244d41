// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "runtime/python_layout.h"

#define MINOR_MIN 9
#define MINOR_MAX 13 /* the last one whose PyThreadState is known */

/* Before 3.11 frames are objects (PyFrameObject), then they are not (_PyInterpreterFrame). */
static const struct layout {
	__u32 thread, context, stack; /* in PyThreadState; stack 0: there is none */
	struct runtime_frames frames;
} layouts[MINOR_MAX + 1] = {
    [9] = {0xb0,
	   0xf0,
	   0,
	   {.first = 24,
	    .within = PYTHON_FRAME_ITSELF,
	    .before = 24,
	    .code = 32,
	    .locals = 360,
	    .end = 64,
	    .arguments = 16,
	    .keywords = 24,
	    .flags = 36,
	    .free = 80}},
    [10] = {0xb0,
	    0xf0,
	    0,
	    {.first = 24,
	     .within = PYTHON_FRAME_ITSELF,
	     .before = 24,
	     .code = 32,
	     .locals = 352,
	     .end = 64,
	     .arguments = 16,
	     .keywords = 24,
	     .flags = 36,
	     .free = 80}},
    [11] = {0x98,
	    0xe0,
	    0x128,
	    {.first = 56,
	     .within = 8,
	     .before = 48,
	     .code = 32,
	     .locals = 72,
	     .owner = 69,
	     .variables = 76,
	     .arguments = 56,
	     .keywords = 64,
	     .flags = 48,
	     .free = 92}},
    [12] = {0x88,
	    0xd0,
	    0xe8,
	    {.first = 56,
	     .within = 0,
	     .before = 8,
	     .code = 0,
	     .locals = 72,
	     .owner = 70,
	     .variables = 72,
	     .arguments = 52,
	     .keywords = 60,
	     .flags = 48,
	     .free = 88}},
    [13] = {0x98,
	    0xd0,
	    0xe8,
	    {.first = 72,
	     .within = PYTHON_FRAME_ITSELF,
	     .before = 8,
	     .code = 0,
	     .locals = 72,
	     .owner = 70,
	     .variables = 72,
	     .arguments = 52,
	     .keywords = 60,
	     .flags = 48,
	     .free = 88}},
};

bool python_layout_is_known(unsigned int minor)
{
	return minor >= MINOR_MIN && minor <= MINOR_MAX;
}

int python_layout_fill(unsigned int minor, struct runtime_python *places)
{
	const struct layout *layout;

	if (!python_layout_is_known(minor))
		return -ENOTSUP;
	layout = &layouts[minor];
	places->thread_offset = layout->thread;
	places->context_offset = layout->context;
	places->stack_offset = layout->stack;
	places->frames = layout->frames;
	return 0;
}
