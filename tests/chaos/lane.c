/* SPDX-License-Identifier: Apache-2.0 */
#include "lane.h"

#include "forge.h"
#include "icmp.h"
#include "tun.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A packet is kept back no longer than this when nothing passes it. */
#define HOLD_MAX_US 20000
/* A queue in front of a limited rate longer than this drops at its end. */
#define QUEUE_MAX_US 200000

static bool earlier(const struct due *a, const struct due *b)
{
	return a->at_us < b->at_us || (a->at_us == b->at_us && a->serial < b->serial);
}

static void swap(struct due *a, struct due *b)
{
	struct due old = *a;

	*a = *b;
	*b = old;
}

static void push(struct lane *lane, struct packet *packet, uint64_t at_us)
{
	size_t at = lane->count++;

	if (lane->count > lane->capacity) {
		lane->capacity = lane->capacity ? lane->capacity * 2 : 256;
		lane->heap = realloc(lane->heap, lane->capacity * sizeof(*lane->heap));
		if (!lane->heap) {
			fprintf(stderr, "link: out of memory for the queue\n");
			exit(2);
		}
	}
	lane->heap[at] = (struct due){at_us, lane->serial++, packet};
	for (; at && earlier(&lane->heap[at], &lane->heap[(at - 1) / 2]); at = (at - 1) / 2)
		swap(&lane->heap[at], &lane->heap[(at - 1) / 2]);
}

static struct packet *pop(struct lane *lane)
{
	struct packet *packet = lane->heap[0].packet;
	size_t at = 0, child;

	lane->heap[0] = lane->heap[--lane->count];
	while ((child = 2 * at + 1) < lane->count) {
		if (child + 1 < lane->count && earlier(&lane->heap[child + 1], &lane->heap[child]))
			child++;
		if (!earlier(&lane->heap[child], &lane->heap[at]))
			break;
		swap(&lane->heap[child], &lane->heap[at]);
		at = child;
	}
	return packet;
}

/* When a packet that sets out now arrives; 0 when the queue in front of the link is full. */
static uint64_t arrival(struct lane *lane, size_t len, uint64_t now_us)
{
	const struct impairment *how = lane->impairment;
	uint64_t delay = how->delay_us + rng_below(&lane->rng, how->jitter_us);

	if (!how->rate_mbit)
		return now_us + delay;
	if (lane->free_us < now_us)
		lane->free_us = now_us;
	if (lane->free_us - now_us > QUEUE_MAX_US)
		return 0;
	lane->free_us += len * 8 / how->rate_mbit;
	return lane->free_us + delay;
}

static void set_out(struct lane *lane, struct packet *packet, uint64_t now_us)
{
	uint64_t at = arrival(lane, packet->len, now_us);

	if (at) {
		push(lane, packet, at);
		return;
	}
	lane->counts.overflow++;
	free(packet);
}

/* Keep a packet back behind `behind` others, of connection `port` (0: of any). */
static bool hold(struct lane *lane, struct packet *packet, unsigned int behind, uint16_t port,
		 uint64_t now_us)
{
	for (int i = 0; i < HELD_MAX; i++) {
		if (lane->held[i].packet)
			continue;
		lane->held[i] = (struct held){
		    .until_us = now_us + HOLD_MAX_US,
		    .left = behind,
		    .port = port,
		    .packet = packet,
		};
		lane->counts.reordered++;
		return true;
	}
	return false;
}

/* One more packet, of connection `port`, has passed those that are kept back. */
static void release_passed(struct lane *lane, uint16_t port, uint64_t now_us)
{
	for (int i = 0; i < HELD_MAX; i++) {
		struct held *held = &lane->held[i];

		if (!held->packet || (held->port && held->port != port) || --held->left)
			continue;
		set_out(lane, held->packet, now_us);
		held->packet = NULL;
	}
}

static uint64_t release_late(struct lane *lane, uint64_t now_us)
{
	uint64_t next = UINT64_MAX;

	for (int i = 0; i < HELD_MAX; i++) {
		struct held *held = &lane->held[i];

		if (!held->packet)
			continue;
		if (held->until_us <= now_us) {
			set_out(lane, held->packet, now_us);
			held->packet = NULL;
		} else if (held->until_us < next) {
			next = held->until_us;
		}
	}
	return next;
}

static void flip(struct lane *lane, struct packet *packet, size_t from, size_t to)
{
	size_t bit = rng_below(&lane->rng, (to - from) * 8);

	packet->data[from + bit / 8] ^= (uint8_t)(1u << (bit % 8));
}

/* Damage that TCP notices: the checksum in full, then a flipped bit. */
static void corrupt(struct lane *lane, struct packet *packet, const struct layout *layout)
{
	if (packet_is_large(packet))
		return;
	packet_finish_checksum(packet, layout);
	flip(lane, packet, layout->tcp, layout->end);
	lane->counts.corrupted++;
}

/* Damage that TCP does not notice: only the client can. */
static void spoil(struct lane *lane, struct packet *packet, const struct layout *layout)
{
	flip(lane, packet, layout->payload, layout->end);
	if (!(packet->offload.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM))
		packet_write_checksums(packet, layout);
	lane->counts.faulted++;
}

static void damage(struct lane *lane, struct packet *packet, const struct layout *layout)
{
	const struct impairment *how = lane->impairment;
	bool has_payload = layout->end > layout->payload;

	if (how->fault_every && has_payload && lane->counts.packets % how->fault_every == 0)
		spoil(lane, packet, layout);
	if (rng_percent(&lane->rng, how->corrupt))
		corrupt(lane, packet, layout);
}

/* How many others a packet has to wait for; 0: none. */
static unsigned int drawn_behind(struct lane *lane, enum mishap mishap)
{
	const struct impairment *how = lane->impairment;

	if (mishap == MISHAP_LATE)
		return 1;
	if (mishap == MISHAP_LATER)
		return 3;
	return rng_percent(&lane->rng, how->reorder)
		   ? (unsigned int)rng_between(&lane->rng, 1, how->behind)
		   : 0;
}

static void send_on(struct lane *lane, struct packet *packet, enum mishap mishap, uint16_t port,
		    uint64_t now_us)
{
	bool own = mishap == MISHAP_LATE || mishap == MISHAP_LATER;
	unsigned int behind = drawn_behind(lane, mishap);

	if (behind && hold(lane, packet, behind, own ? port : 0, now_us))
		return;
	set_out(lane, packet, now_us);
	release_passed(lane, port, now_us);
}

/* Is this packet lost? With the first one of a burst the length of that is drawn. */
static bool is_lost(struct lane *lane, enum mishap mishap)
{
	const struct impairment *how = lane->impairment;

	if (lane->losing) {
		lane->losing--;
		return true;
	}
	if (!rng_percent(&lane->rng, how->loss))
		return mishap == MISHAP_LOST;
	if (how->burst > 1)
		lane->losing = (unsigned int)rng_between(&lane->rng, 0, how->burst - 1);
	return true;
}

/* Not beside the packets of an opening or an end: there TCP itself believes much. */
static void forge(struct lane *lane, const struct packet *packet, const struct layout *layout,
		  uint64_t now_us)
{
	const tcp_header *tcp = (const tcp_header *)(packet->data + layout->tcp);

	if (tcp->syn || tcp->fin || tcp->rst || !rng_percent(&lane->rng, lane->impairment->forge))
		return;
	set_out(lane, forge_beside(&lane->rng, packet, layout, !lane->direction), now_us);
	lane->counts.forged++;
}

/* One packet on the wire; owns it. */
static void transmit(struct lane *lane, struct packet *packet, const struct layout *layout,
		     uint64_t now_us)
{
	const tcp_header *tcp = (const tcp_header *)(packet->data + layout->tcp);
	struct packet *again = NULL;
	enum mishap mishap;
	uint16_t port;

	lane->counts.packets++;
	mishap = mishap_of(lane->mishaps, lane->direction, tcp, &port);
	if (is_lost(lane, mishap)) {
		lane->counts.lost++;
		free(packet);
		return;
	}
	forge(lane, packet, layout, now_us);
	damage(lane, packet, layout);
	if (mishap == MISHAP_TWICE || rng_percent(&lane->rng, lane->impairment->duplicate))
		again = packet_copy(packet);
	send_on(lane, packet, mishap, port, now_us);
	if (!again)
		return;
	lane->counts.duplicated++;
	send_on(lane, again, MISHAP_NONE, port, now_us);
}

static void transmit_segments(struct lane *lane, const struct packet *large,
			      const struct layout *layout, uint64_t now_us)
{
	struct packet *segment;
	struct layout cut = *layout;

	for (unsigned int i = 0; (segment = packet_segment(large, layout, i)); i++) {
		cut.end = segment->len;
		transmit(lane, segment, &cut, now_us);
	}
}

static void refuse_too_big(struct lane *lane, const struct packet *packet,
			   const struct layout *layout)
{
	struct packet *first = packet_is_large(packet) ? packet_segment(packet, layout, 0) : NULL;
	struct layout cut = *layout;
	struct packet *error;

	lane->counts.too_big++;
	if (first)
		cut.end = first->len;
	error = lane->impairment->icmp
		    ? icmp_too_big(first ? first : packet, &cut, lane->impairment->mtu)
		    : NULL;
	free(first);
	if (error && !tun_write(lane->back, error))
		lane->counts.icmp++;
	free(error);
}

static void transmit_tcp(struct lane *lane, const struct packet *packet,
			 const struct layout *layout, uint64_t now_us)
{
	const struct impairment *how = lane->impairment;
	bool cards = how->offload == OFFLOAD_SEGMENT;
	struct packet *copy;

	if (packet_ip_len(packet, layout) > how->mtu) {
		refuse_too_big(lane, packet, layout);
		return;
	}
	if (packet_is_large(packet) && cards) {
		transmit_segments(lane, packet, layout, now_us);
		return;
	}
	copy = packet_copy(packet);
	if (cards)
		packet_finish_checksum(copy, layout);
	transmit(lane, copy, layout, now_us);
}

void lane_take(struct lane *lane, const struct packet *packet, uint64_t now_us)
{
	struct layout layout;

	lane->counts.large += packet_is_large(packet);
	lane->counts.partial += (packet->offload.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) != 0;
	if (packet_layout(packet, lane->impairment->link_len, &layout) && layout.tcp)
		transmit_tcp(lane, packet, &layout, now_us);
	else
		push(lane, packet_copy(packet), now_us);
}

uint64_t lane_deliver(struct lane *lane, uint64_t now_us)
{
	uint64_t next = release_late(lane, now_us);

	while (lane->count && lane->heap[0].at_us <= now_us) {
		struct packet *packet = pop(lane);

		if (tun_write(lane->out, packet))
			lane->counts.unsent++;
		free(packet);
	}
	if (lane->count && lane->heap[0].at_us < next)
		next = lane->heap[0].at_us;
	return next;
}

void lane_print(const struct lane *lane)
{
	const struct lane_counts *c = &lane->counts;

	printf("%s: packets=%" PRIu64 " large=%" PRIu64 " partial=%" PRIu64 " lost=%" PRIu64
	       " duplicated=%" PRIu64 " reordered=%" PRIu64 " corrupted=%" PRIu64 " forged=%" PRIu64
	       " faulted=%" PRIu64 " too_big=%" PRIu64 " icmp=%" PRIu64 " overflow=%" PRIu64
	       " unsent=%" PRIu64 "\n",
	       lane->name, c->packets, c->large, c->partial, c->lost, c->duplicated, c->reordered,
	       c->corrupted, c->forged, c->faulted, c->too_big, c->icmp, c->overflow, c->unsent);
}

void lane_free(struct lane *lane)
{
	for (size_t i = 0; i < lane->count; i++)
		free(lane->heap[i].packet);
	for (int i = 0; i < HELD_MAX; i++)
		free(lane->held[i].packet);
	free(lane->heap);
}
