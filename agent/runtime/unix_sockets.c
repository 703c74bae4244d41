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

#define LOOK_NS   NS_PER_SECOND
#define NS_PER_MS (NS_PER_SECOND / 1000)

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

	/* If another daemon has the lock, the next look is soon. */
	sockets->waiting = !done || done == -EWOULDBLOCK;
	return done == -EWOULDBLOCK || done == -ENOENT ? 0 : done;
}

static int look(struct unix_sockets *sockets)
{
	struct round round = {};

	sockets->next_look_ns = clock_now_ns() + LOOK_NS;
	processes_each(sockets->runtimes_fd, look_at, &round);
	return attach(sockets, round.found ? NODE_UNIX : 0);
}

int unix_sockets_open(int runtimes_fd, struct unix_sockets *ret_sockets)
{
	*ret_sockets = (struct unix_sockets){.runtimes_fd = runtimes_fd, .waiting = true};
	return look(ret_sockets);
}

int unix_sockets_asked(struct unix_sockets *sockets, __u32 tgid)
{
	if (!sockets->waiting || (tgid && !unix_names_near(tgid)))
		return 0;
	return attach(sockets, NODE_UNIX);
}

int unix_sockets_do(struct unix_sockets *sockets)
{
	return sockets->waiting && clock_now_ns() >= sockets->next_look_ns ? look(sockets) : 0;
}

int unix_sockets_due_ms(const struct unix_sockets *sockets)
{
	__u64 now_ns = clock_now_ns();

	if (!sockets->waiting)
		return -1;
	return now_ns < sockets->next_look_ns
		   ? (int)((sockets->next_look_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS)
		   : 0;
}
