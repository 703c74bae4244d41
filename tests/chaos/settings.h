/* SPDX-License-Identifier: Apache-2.0 */
/* What the client was told to do. */
#ifndef CHAOS_SETTINGS_H
#define CHAOS_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define DEPTH_MAX 64

/*
 * How many injected headers a request may have that brought none itself; with the last two also
 * those that did bring one lose it, or get another value for it.
 */
enum expect { EXPECT_NONE, EXPECT_ONE, EXPECT_AT_MOST, EXPECT_STRIP, EXPECT_RESTART };

/* How requests follow each other on a connection. */
enum mode { MODE_NEW, MODE_KEEP, MODE_PIPELINE };

/* How heads are handed to the kernel; CUT_MIXED draws one of the others for each request. */
enum cut { CUT_WHOLE, CUT_HEAD, CUT_TWO, CUT_PIECES, CUT_BYTES, CUT_MIXED };

/* Headers that the client itself adds behind its own back, to test itself without an agent. */
enum fake {
	FAKE_NONE,
	FAKE_ONE,
	FAKE_MISSING,
	FAKE_DOUBLE,
	FAKE_SAME,
	FAKE_ZERO,
	FAKE_MALFORMED,
	FAKE_OVERRIDE,
	FAKE_MISPLACED,
};

struct settings {
	struct sockaddr_storage address;
	socklen_t address_len;
	uint64_t requests, seed;
	unsigned int connections, depth, per_connection, budget;
	unsigned int stuck_ms, seconds;
	uint64_t body_max, head_max;
	enum expect expect;
	enum mode mode;
	enum cut cut;
	enum fake fake;
	bool plain, post_only;
	unsigned int aborts; /* per cent of the connections */
};

/* Read the command line; prints help or what is wrong and exits where there is nothing to do. */
void settings_read(struct settings *settings, int argc, char **argv);

#endif
