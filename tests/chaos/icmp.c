/* SPDX-License-Identifier: Apache-2.0 */
#include "icmp.h"

#include <arpa/inet.h>
#include <net/ethernet.h>
#include <string.h>

/* RFC 1812 asks for as much as fits 576 bytes, RFC 4443 for as much as fits 1280. */
#define IPV4_ERROR_MAX 576
#define IPV6_ERROR_MAX 1280

static size_t quote(struct packet *error, size_t at, const struct packet *packet,
		    const struct layout *layout, size_t limit)
{
	size_t len = layout->end - layout->ip;

	if (at - layout->ip + len > limit)
		len = limit - (at - layout->ip);
	memcpy(error->data + at, packet->data + layout->ip, len);
	error->len = at + len;
	return len;
}

static void swap_macs(struct packet *error, const struct packet *packet, size_t link_len)
{
	if (!link_len)
		return;
	memcpy(error->data, packet->data + ETH_ALEN, ETH_ALEN);
	memcpy(error->data + ETH_ALEN, packet->data, ETH_ALEN);
	error->data[link_len - 2] = packet->data[link_len - 2];
	error->data[link_len - 1] = packet->data[link_len - 1];
}

static void write_ipv4(struct packet *error, const struct packet *packet,
		       const struct layout *layout, unsigned int mtu)
{
	const ipv4_header *old = (const void *)(packet->data + layout->ip);
	ipv4_header *ip = (void *)(error->data + layout->ip);
	icmpv4_header *icmp = (void *)(ip + 1);
	size_t start = layout->ip + sizeof(*ip);
	size_t len = quote(error, start + sizeof(*icmp), packet, layout, IPV4_ERROR_MAX);

	*ip = (ipv4_header){
	    .version = 4,
	    .ihl = 5,
	    .ttl = 64,
	    .protocol = IPPROTO_ICMP,
	    .saddr = old->daddr,
	    .daddr = old->saddr,
	    .tot_len = htons((uint16_t)(error->len - layout->ip)),
	};
	ip->check = checksum_fold(checksum_add(0, ip, sizeof(*ip)));
	icmp->type = ICMP_DEST_UNREACH;
	icmp->code = ICMP_FRAG_NEEDED;
	icmp->un.frag.mtu = htons((uint16_t)mtu);
	icmp->checksum = checksum_fold(checksum_add(0, icmp, sizeof(*icmp) + len));
}

static void write_ipv6(struct packet *error, const struct packet *packet,
		       const struct layout *layout, unsigned int mtu)
{
	const ipv6_header *old = (const void *)(packet->data + layout->ip);
	ipv6_header *ip = (void *)(error->data + layout->ip);
	icmpv6_header *icmp = (void *)(ip + 1);
	size_t start = layout->ip + sizeof(*ip);
	size_t len = quote(error, start + sizeof(*icmp), packet, layout, IPV6_ERROR_MAX);
	uint32_t sum;

	len += sizeof(*icmp);
	ip->ip6_flow = htonl(6u << 28);
	ip->ip6_plen = htons((uint16_t)len);
	ip->ip6_nxt = IPPROTO_ICMPV6;
	ip->ip6_hlim = 64;
	ip->ip6_src = old->ip6_dst;
	ip->ip6_dst = old->ip6_src;
	icmp->icmp6_type = ICMP6_PACKET_TOO_BIG;
	icmp->icmp6_mtu = htonl(mtu);
	sum = checksum_add(IPPROTO_ICMPV6 + (uint32_t)len, &ip->ip6_src, 32);
	icmp->icmp6_cksum = checksum_fold(checksum_add(sum, icmp, len));
}

struct packet *icmp_too_big(const struct packet *packet, const struct layout *layout,
			    unsigned int mtu)
{
	const ipv4_header *ip = (const void *)(packet->data + layout->ip);
	struct packet *error;

	if (layout->version == 4 && !(ntohs(ip->frag_off) & IP_DF))
		return NULL;
	error = packet_new(layout->ip + IPV6_ERROR_MAX);
	swap_macs(error, packet, layout->ip);
	if (layout->version == 4)
		write_ipv4(error, packet, layout, mtu);
	else
		write_ipv6(error, packet, layout, mtu);
	return error;
}
