/* SPDX-License-Identifier: Apache-2.0 */
#include "packet.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct packet *packet_new(size_t room)
{
	struct packet *packet = calloc(1, sizeof(*packet) + room);

	if (!packet) {
		fprintf(stderr, "link: out of memory for a packet\n");
		exit(2);
	}
	return packet;
}

struct packet *packet_copy(const struct packet *packet)
{
	struct packet *copy = packet_new(packet->len);

	memcpy(copy, packet, sizeof(*packet) + packet->len);
	return copy;
}

static bool layout_ipv4(const struct packet *packet, struct layout *layout)
{
	const ipv4_header *ip = (const void *)(packet->data + layout->ip);
	size_t len;

	if (layout->ip + sizeof(*ip) > packet->len)
		return false;
	len = ntohs(ip->tot_len);
	if (ip->ihl < 5 || layout->ip + len > packet->len)
		return false;
	layout->end = layout->ip + len;
	if (ip->protocol == IPPROTO_TCP && !(ntohs(ip->frag_off) & 0x3fff))
		layout->tcp = layout->ip + (size_t)ip->ihl * 4;
	return true;
}

static bool layout_ipv6(const struct packet *packet, struct layout *layout)
{
	const ipv6_header *ip = (const void *)(packet->data + layout->ip);
	size_t len;

	if (layout->ip + sizeof(*ip) > packet->len)
		return false;
	len = sizeof(*ip) + ntohs(ip->ip6_plen);
	if (layout->ip + len > packet->len)
		return false;
	layout->end = layout->ip + len;
	if (ip->ip6_nxt == IPPROTO_TCP)
		layout->tcp = layout->ip + sizeof(*ip);
	return true;
}

bool packet_layout(const struct packet *packet, size_t link_len, struct layout *ret_layout)
{
	const tcp_header *tcp;
	bool is_ip = false;

	*ret_layout = (struct layout){.ip = link_len};
	if (packet->len <= link_len)
		return false;
	ret_layout->version = packet->data[link_len] >> 4;
	if (ret_layout->version == 4)
		is_ip = layout_ipv4(packet, ret_layout);
	else if (ret_layout->version == 6)
		is_ip = layout_ipv6(packet, ret_layout);
	if (!is_ip || !ret_layout->tcp)
		return is_ip;
	tcp = (const void *)(packet->data + ret_layout->tcp);
	if (ret_layout->tcp + sizeof(*tcp) > ret_layout->end || tcp->doff < 5 ||
	    ret_layout->tcp + (size_t)tcp->doff * 4 > ret_layout->end)
		ret_layout->tcp = 0;
	else
		ret_layout->payload = ret_layout->tcp + (size_t)tcp->doff * 4;
	return true;
}

bool packet_is_large(const struct packet *packet)
{
	return packet->offload.gso_type != VIRTIO_NET_HDR_GSO_NONE;
}

size_t packet_ip_len(const struct packet *packet, const struct layout *layout)
{
	size_t whole = layout->end - layout->ip;
	size_t segment = layout->payload - layout->ip + packet->offload.gso_size;

	return packet_is_large(packet) && layout->tcp && segment < whole ? segment : whole;
}

uint32_t checksum_add(uint32_t sum, const void *data, size_t len)
{
	const uint8_t *byte = data;
	uint64_t wide = sum;

	for (; len > 1; len -= 2, byte += 2)
		wide += (uint64_t)byte[0] << 8 | byte[1];
	if (len)
		wide += (uint64_t)byte[0] << 8;
	while (wide >> 32)
		wide = (wide & 0xffffffff) + (wide >> 32);
	return (uint32_t)wide;
}

uint16_t checksum_fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

void packet_finish_checksum(struct packet *packet, const struct layout *layout)
{
	struct virtio_net_hdr *offload = &packet->offload;
	uint8_t *start = packet->data + offload->csum_start;
	uint16_t sum;

	if (!(offload->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM))
		return;
	/* the field holds the sum of the pseudo header, and is part of what is summed */
	sum = checksum_fold(checksum_add(0, start, layout->end - offload->csum_start));
	memcpy(start + offload->csum_offset, &sum, sizeof(sum));
	offload->flags = 0;
	offload->csum_start = offload->csum_offset = 0;
}

static uint32_t pseudo_header(const struct packet *packet, const struct layout *layout)
{
	bool v4 = layout->version == 4;
	const uint8_t *addresses = packet->data + layout->ip + (v4 ? 12 : 8);
	uint32_t sum = IPPROTO_TCP + (uint32_t)(layout->end - layout->tcp);

	return checksum_add(sum, addresses, v4 ? 8 : 32);
}

void packet_write_checksums(struct packet *packet, const struct layout *layout)
{
	ipv4_header *ip = (void *)(packet->data + layout->ip);
	tcp_header *tcp = (void *)(packet->data + layout->tcp);

	if (layout->version == 4) {
		ip->check = 0;
		ip->check = checksum_fold(checksum_add(0, ip, (size_t)ip->ihl * 4));
	}
	tcp->check = 0;
	tcp->check = checksum_fold(
	    checksum_add(pseudo_header(packet, layout), tcp, layout->end - layout->tcp));
}

static void set_ip_len(struct packet *packet, const struct layout *layout, unsigned int index)
{
	ipv4_header *v4 = (void *)(packet->data + layout->ip);
	ipv6_header *v6 = (void *)(packet->data + layout->ip);

	if (layout->version == 4) {
		v4->tot_len = htons((uint16_t)(layout->end - layout->ip));
		v4->id = htons((uint16_t)(ntohs(v4->id) + index));
	} else {
		v6->ip6_plen = htons((uint16_t)(layout->end - layout->ip - sizeof(*v6)));
	}
}

static void set_tcp(struct packet *packet, const struct layout *layout, size_t offset, bool last)
{
	tcp_header *tcp = (void *)(packet->data + layout->tcp);

	tcp->seq = htonl(ntohl(tcp->seq) + (uint32_t)offset);
	if (offset)
		tcp->cwr = 0;
	if (!last)
		tcp->psh = tcp->fin = 0;
}

struct packet *packet_segment(const struct packet *large, const struct layout *layout,
			      unsigned int index)
{
	size_t whole = layout->end - layout->payload;
	size_t offset = (size_t)index * large->offload.gso_size;
	size_t len = whole - offset;
	struct layout cut = *layout;
	struct packet *segment;

	if (offset >= whole)
		return NULL;
	if (len > large->offload.gso_size)
		len = large->offload.gso_size;
	segment = packet_new(layout->payload + len);
	segment->len = cut.end = layout->payload + len;
	memcpy(segment->data, large->data, layout->payload);
	memcpy(segment->data + layout->payload, large->data + layout->payload + offset, len);
	set_ip_len(segment, &cut, index);
	set_tcp(segment, &cut, offset, offset + len == whole);
	packet_write_checksums(segment, &cut);
	return segment;
}
