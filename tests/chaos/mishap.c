/* SPDX-License-Identifier: Apache-2.0 */
#include "mishap.h"

#include <arpa/inet.h>
#include <stdlib.h>

#define PORTS 65536

/* Places are counted through both directions: the client's first. */
static unsigned int places(const struct mishaps *mishaps)
{
	return 2 * mishaps->upto;
}

static unsigned int singles(const struct mishaps *mishaps)
{
	return (MISHAP_KINDS - 1) * places(mishaps);
}

unsigned int mishaps_count(const struct mishaps *mishaps)
{
	unsigned int n = places(mishaps);

	return singles(mishaps) + (mishaps->pairs ? n * (n - 1) / 2 : 0);
}

void mishaps_start(struct mishaps *mishaps)
{
	mishaps->victims = calloc(PORTS, sizeof(*mishaps->victims));
	mishaps->done = calloc(mishaps_count(mishaps) + 1, sizeof(*mishaps->done));
	if (mishaps->victims && mishaps->done)
		return;
	fprintf(stderr, "link: out of memory for the mishaps\n");
	exit(2);
}

/* The two places of pair number `pair`: the first, and one behind it. */
static void unpair(unsigned int pair, unsigned int count, unsigned int place[2])
{
	for (place[0] = 0; pair >= count - 1 - place[0]; place[0]++)
		pair -= count - 1 - place[0];
	place[1] = place[0] + 1 + pair;
}

/* What plan number `plan` has for the packet at `place`. */
static enum mishap at_place(const struct mishaps *mishaps, unsigned int plan, unsigned int place)
{
	unsigned int count = places(mishaps), pair[2];

	if (plan < singles(mishaps))
		return plan % count == place ? (enum mishap)(1 + plan / count) : MISHAP_NONE;
	unpair(plan - singles(mishaps), count, pair);
	return place == pair[0] || place == pair[1] ? MISHAP_LOST : MISHAP_NONE;
}

static bool is_new(const struct victim *victim, int direction, const tcp_header *tcp)
{
	if (direction || !tcp->syn)
		return false;
	return !victim->known || victim->isn != tcp->seq;
}

enum mishap mishap_of(struct mishaps *mishaps, int direction, const tcp_header *tcp,
		      uint16_t *ret_port)
{
	unsigned int place, wanted;
	struct victim *victim;
	enum mishap mishap;

	*ret_port = ntohs(direction ? tcp->dest : tcp->source);
	if (!mishaps->upto)
		return MISHAP_NONE;
	victim = &mishaps->victims[*ret_port];
	if (is_new(victim, direction, tcp))
		*victim = (struct victim){
		    .known = true,
		    .isn = tcp->seq,
		    .plan = mishaps->connections++ % mishaps_count(mishaps),
		};
	place = victim->passed[direction]++;
	if (!victim->known || place >= mishaps->upto)
		return MISHAP_NONE;
	mishap = at_place(mishaps, victim->plan, (unsigned int)direction * mishaps->upto + place);
	wanted = victim->plan < singles(mishaps) ? 1 : 2;
	if (mishap && ++victim->suffered == wanted)
		mishaps->done[victim->plan] = true;
	return mishap;
}

void mishaps_print(const struct mishaps *mishaps, FILE *to)
{
	unsigned int done = 0, count = mishaps_count(mishaps);

	for (unsigned int i = 0; i < count; i++)
		done += mishaps->done[i];
	fprintf(to, "mishaps: mishaps=%u suffered=%u\n", count, done);
}

void mishaps_free(struct mishaps *mishaps)
{
	free(mishaps->victims);
	free(mishaps->done);
}
