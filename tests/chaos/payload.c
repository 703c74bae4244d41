/* SPDX-License-Identifier: Apache-2.0 */
#include "payload.h"

#include "hash.h"
#include "rng.h"

#include <string.h>

static const char decoy[] =
    "POST /decoy HTTP/1.1\r\nHost: decoy\r\nContent-Length: 5\r\n\r\nhello"
    "GET /decoy?traceparent HTTP/1.1\r\nHost: decoy\r\n"
    "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n\r\n"
    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n0\r\n\r\n";

static void fill_decoy(uint64_t offset, uint8_t *to, size_t len)
{
	const size_t period = sizeof(decoy) - 1;

	for (size_t i = 0; i < len; i++)
		to[i] = (uint8_t)decoy[(offset + i) % period];
}

static void fill_random(uint64_t seed, uint64_t offset, uint8_t *to, size_t len)
{
	while (len) {
		struct rng rng = {seed + (offset / 8) * 0x9e3779b97f4a7c15ull};
		uint64_t word = rng_next(&rng);
		size_t skip = offset % 8;
		size_t n = 8 - skip < len ? 8 - skip : len;

		memcpy(to, (uint8_t *)&word + skip, n);
		to += n;
		offset += n;
		len -= n;
	}
}

void payload_fill(uint64_t seed, uint64_t offset, void *to, size_t len)
{
	if (seed % 4 == 0)
		fill_decoy(offset, to, len);
	else
		fill_random(seed, offset, to, len);
}

uint64_t payload_hash(uint64_t seed, uint64_t len)
{
	uint64_t hash = HASH_EMPTY;
	uint8_t piece[4096];

	for (uint64_t offset = 0; offset < len; offset += sizeof(piece)) {
		size_t n = len - offset < sizeof(piece) ? len - offset : sizeof(piece);

		payload_fill(seed, offset, piece, n);
		hash = hash_bytes(hash, piece, n);
	}
	return hash;
}
