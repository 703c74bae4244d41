// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "engine/node.h"
#include "load/node.h"
#include "inspect/process.h"
#include "runtime/processes.h"
#include "runtime/unix_names.h"
#include "runtime/unix_sockets.h"

#define LOOK_NS NS_PER_SECOND
/* The largest part of the time that looks may take, since other work waits meanwhile. */
#define SHARE 20

/* Network namespaces that are looked at only once in each round. */
#define PLACES_MAX 64

struct round {
	ino_t place[PLACES_MAX];
	size_t places;
	bool found;
};

/* Was this process's network namespace looked at in this round? */
static bool is_new(struct round *round, __u32 tgid)
{
	char path[PROCESS_PATH_MAX];
	struct stat place;

	snprintf(path, sizeof(path), "/proc/%u/ns/net", tgid);
	if (stat(path, &place))
		return false;
	for (size_t i = 0; i < round->places; i++)
		if (round->place[i] == place.st_ino)
			return false;
	if (round->places < PLACES_MAX)
		round->place[round->places++] = place.st_ino;
	return true;
}

static void look_at(__u32 tgid, void *data)
{
	struct round *round = data;

	round->found = round->found || (is_new(round, tgid) && unix_names_near(tgid));
}

/* Attach the hooks for these flags and for what the probes have asked for. Returns as the rest. */
static int attach(struct unix_sockets *sockets, __u32 flags)
{
	int done = node_attach_waiting(flags);

	/* If they are not loaded yet, or another daemon has the lock, the next look is soon. */
	sockets->waiting = !done || done == -EWOULDBLOCK;
	return sockets->waiting || done == -ENOENT ? 0 : done;
}

static int look(struct unix_sockets *sockets)
{
	const __u64 begin_ns = clock_now_ns();
	struct round round = {};
	__u64 end_ns;
	int done;

	processes_each(sockets->runtimes_fd, look_at, &round);
	done = attach(sockets, round.found ? NODE_UNIX : 0);
	end_ns = clock_now_ns();
	sockets->asked = false;
	sockets->earliest_ns = end_ns + (end_ns - begin_ns) * (SHARE - 1);
	sockets->next_look_ns = begin_ns + LOOK_NS;
	return done;
}

int unix_sockets_open(int runtimes_fd, struct unix_sockets *ret_sockets)
{
	*ret_sockets = (struct unix_sockets){.runtimes_fd = runtimes_fd, .waiting = true};
	return look(ret_sockets);
}

void unix_sockets_ask(struct unix_sockets *sockets)
{
	sockets->asked = true;
}

/* When it is time for the next look. */
static __u64 due_ns(const struct unix_sockets *sockets)
{
	return sockets->asked || sockets->next_look_ns < sockets->earliest_ns
		   ? sockets->earliest_ns
		   : sockets->next_look_ns;
}

int unix_sockets_do(struct unix_sockets *sockets)
{
	return sockets->waiting && clock_now_ns() >= due_ns(sockets) ? look(sockets) : 0;
}

int unix_sockets_due_ms(const struct unix_sockets *sockets)
{
	return sockets->waiting ? clock_ms_until(due_ns(sockets)) : -1;
}
