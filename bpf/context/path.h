/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The path of a call: which way through the program it came, told by where the stack ends at its
 * system call.
 *
 * A loop that makes calls of its own (from timers, say) may make one right after it has read a
 * request, when all else speaks for that request. But it makes them from another place. So a path
 * on which a call ever came when no request could have made it is own: what was read last tells
 * nothing about its calls. And where there are own paths, a new one is not believed before it was
 * seen so often that an own one would have shown itself. (Just-in-time compilers move the ends of
 * stacks now and then, so new ones come up at any time.)
 */
#ifndef CTXPROP_CONTEXT_PATH_H
#define CTXPROP_CONTEXT_PATH_H

#include <linux/types.h>

#define PATHS_OWN  8 /* powers of two */
#define PATHS_SEEN 8
#define PATH_SURE  8 /* an own path stays hidden so many times longer than usual once in e^8 */

/* Of one thread. A path is the end of the user's stack; 0 is none. Oldest ones are overwritten. */
struct paths {
	__u32 own[PATHS_OWN];
	__u32 seen[PATHS_SEEN];
	__u16 times[PATHS_SEEN]; /* how often each of `seen` */
	__u32 owns, seens;       /* entries ever made */
	__u32 shown, hidden; /* calls on own paths that no request, and that one might have made */
};

static __always_inline int paths_has_own(const struct paths *p, __u32 path)
{
	for (int i = 0; i < PATHS_OWN; i++)
		if (p->own[i] == path)
			return 1;
	return 0;
}

/* A call came that no request can have made. */
static __always_inline void paths_add_own(struct paths *p, __u32 path)
{
	p->shown++;
	if (!paths_has_own(p, path))
		p->own[p->owns++ & (PATHS_OWN - 1)] = path;
}

/* A call came that a request may have made; returns how often that was so on its path before. */
static __always_inline __u32 paths_add_seen(struct paths *p, __u32 path)
{
	__u32 next = p->seens & (PATHS_SEEN - 1);

	for (int i = 0; i < PATHS_SEEN; i++)
		if (p->seen[i] == path)
			return p->times[i] < 65535 ? p->times[i]++ : p->times[i];
	p->seen[next] = path;
	p->times[next] = 1;
	p->seens++;
	return 0;
}

/* The same, and: could it still turn out to be an own path? */
static __always_inline int paths_is_new(struct paths *p, __u32 path)
{
	__u32 times = paths_add_seen(p, path);

	return p->owns && times * p->shown < PATH_SURE * (p->shown + p->hidden);
}

#endif
