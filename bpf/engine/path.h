/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The path of a call: which way through the program it came, told by where the stack ends at its
 * system call.
 *
 * A loop that makes calls of its own (from timers, say) may make one right after it has read a
 * request, when all else speaks for that request. But it makes them from another place. So a path
 * on which a call ever came when no request could have made it is own: what was read last tells
 * nothing about its calls. And where there are own paths, a new one is not believed before it was
 * seen a few times with the request that was read last still idle: as a rule a request has made
 * its first call when the loop gets round to its own, so that an own path is not seen like that.
 * (Just-in-time compilers move the ends of stacks, so new paths come up at any time.)
 */
#ifndef CTXPROP_ENGINE_PATH_H
#define CTXPROP_ENGINE_PATH_H

#include <linux/types.h>

#define PATHS_OWN  8 /* powers of two */
#define PATHS_SEEN 8
#define PATH_SURE  8 /* times that a new path must be seen, when own ones are seldom hidden */

/* A path is the end of the user's stack; 0 is none. Oldest ones are overwritten. */
struct own_paths {
	__u32 path[PATHS_OWN];
	__u32 made;   /* entries ever made */
	__u32 phases; /* 1: made since phases of the loop are told apart (enum actor_phase) */
};

/* Of one thread. */
struct paths {
	struct own_paths own;
	__u32 seen[PATHS_SEEN];
	__u16 times[PATHS_SEEN]; /* how often each of `seen` */
	__u32 seens;             /* entries ever made */
	__u32 shown, hidden; /* calls on own paths that no request, and that one might have made */
};

static __always_inline int own_paths_have(const struct own_paths *o, __u32 path)
{
	for (int i = 0; i < PATHS_OWN; i++)
		if (o->path[i] == path)
			return 1;
	return 0;
}

/* A call came that no request can have made. */
static __always_inline void own_paths_add(struct own_paths *o, __u32 path)
{
	if (!own_paths_have(o, path))
		o->path[o->made++ & (PATHS_OWN - 1)] = path;
}

/* From now on timers, say, are told apart. What was learnt before may be of them. */
static __always_inline void own_paths_tell_phases(struct own_paths *o)
{
	if (o->phases)
		return;
	__builtin_memset(o, 0, sizeof(*o));
	o->phases = 1;
}

/* How often a call of an idle request came on the path. */
static __always_inline __u32 paths_times(const struct paths *p, __u32 path)
{
	for (int i = 0; i < PATHS_SEEN; i++)
		if (p->seen[i] == path)
			return p->times[i];
	return 0;
}

static __always_inline void paths_add_seen(struct paths *p, __u32 path)
{
	__u32 next = p->seens & (PATHS_SEEN - 1);

	for (int i = 0; i < PATHS_SEEN; i++) {
		if (p->seen[i] != path)
			continue;
		if (p->times[i] < 65535)
			p->times[i]++;
		return;
	}
	p->seen[next] = path;
	p->times[next] = 1;
	p->seens++;
}

/* Could it still turn out to be an own path, if there are any? */
static __always_inline int paths_is_new(const struct paths *p, __u32 path)
{
	return paths_times(p, path) * (p->shown + 1) < PATH_SURE * (p->shown + p->hidden + 1);
}

#endif
