// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "packet.h"
#include "tcp_options.h"

#define TCP_MSS            2
#define TCP_WSCALE         3
#define TCP_SACK_PERMITTED 4
#define TCP_SACK           5
#define TCP_TIMESTAMPS     8

size_t tcp_timestamps(uint8_t *to)
{
	static const uint8_t bytes[TIMESTAMPS_LEN] = {
	    TCP_NOP, TCP_NOP, TCP_TIMESTAMPS, 10, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0,
	};

	memcpy(to, bytes, sizeof(bytes));
	return sizeof(bytes);
}

size_t tcp_syn_options(uint8_t *to, uint16_t mss, uint8_t wscale)
{
	size_t n = 0;

	if (mss) {
		memcpy(to + n, (uint8_t[]){TCP_MSS, 4, mss >> 8, mss}, 4);
		n += 4;
	}
	memcpy(to + n, (uint8_t[]){TCP_NOP, TCP_NOP, TCP_SACK_PERMITTED, 2}, 4);
	n += 4;
	if (wscale) {
		memcpy(to + n, (uint8_t[]){TCP_NOP, TCP_WSCALE, 3, wscale}, 4);
		n += 4;
	}
	return n;
}

size_t tcp_sack(uint8_t *to, size_t room, const uint32_t *edge, size_t n)
{
	size_t len = room ? 4 + 8 * room : 0;

	memset(to, TCP_NOP, len);
	if (!n)
		return len;
	to[2] = TCP_SACK;
	to[3] = 2 + 8 * n;
	for (size_t i = 0; i < 2 * n; i++)
		put32(to + 4 + 4 * i, edge[i]);
	return len;
}
