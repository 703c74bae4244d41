// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "runtimes/python/offsets.h"

#define MINOR_MIN 9
#define MINOR_MAX 13 /* the last one whose PyThreadState is known */
#define MINORS    (MINOR_MAX - MINOR_MIN + 1)

#define ITSELF      PYTHON_FRAME_ITSELF
#define FIELD(name) offsetof(struct layout, name)

struct layout {
	__u16 thread, context, stack; /* in PyThreadState; stack 0: there is none */
	struct runtime_frames frames;
};

/*
 * Where things stand, in each version. Before 3.11 frames are objects (PyFrameObject), then they
 * are not (_PyInterpreterFrame).
 */
static const struct place {
	size_t field; /* of struct layout; they are all of one size */
	__u16 at[MINORS];
} places[] = {
    /* clang-format off */
    /*                          3.9,    3.10, 3.11,  3.12,   3.13 */
    {FIELD(thread),            {0xb0,    0xb0, 0x98,  0x88,   0x98}},
    {FIELD(context),           {0xf0,    0xf0, 0xe0,  0xd0,   0xd0}},
    {FIELD(stack),                {0,       0, 0x128, 0xe8,   0xe8}},
    {FIELD(frames.first),        {24,      24, 56,    56,     72}},
    {FIELD(frames.within),   {ITSELF,  ITSELF, 8,     0,      ITSELF}},
    {FIELD(frames.before),       {24,      24, 48,    8,      8}},
    {FIELD(frames.code),         {32,      32, 32,    0,      0}},
    {FIELD(frames.locals),      {360,     352, 72,    72,     72}},
    {FIELD(frames.end),          {64,      64, 0,     0,      0}},
    {FIELD(frames.owner),         {0,       0, 69,    70,     70}},
    {FIELD(frames.variables),     {0,       0, 76,    72,     72}},
    {FIELD(frames.arguments),    {16,      16, 56,    52,     52}},
    {FIELD(frames.keywords),     {24,      24, 64,    60,     60}},
    {FIELD(frames.flags),        {36,      36, 48,    48,     48}},
    {FIELD(frames.free),         {80,      80, 92,    88,     88}},
    /* clang-format on */
};
_Static_assert(sizeof(places) / sizeof(places[0]) * sizeof(__u16) == sizeof(struct layout),
	       "each field has its place");

bool python_layout_is_known(unsigned int minor)
{
	return minor >= MINOR_MIN && minor <= MINOR_MAX;
}

int python_layout_fill(unsigned int minor, struct runtime_python *ret_places)
{
	struct layout layout = {};

	if (!python_layout_is_known(minor))
		return -ENOTSUP;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		memcpy((char *)&layout + places[i].field, &places[i].at[minor - MINOR_MIN],
		       sizeof(__u16));
	ret_places->thread_offset = layout.thread;
	ret_places->context_offset = layout.context;
	ret_places->stack_offset = layout.stack;
	ret_places->frames = layout.frames;
	return 0;
}
