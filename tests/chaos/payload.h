/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of bodies: any byte of any body can be computed from its seed, so nobody stores them. */
#ifndef CHAOS_PAYLOAD_H
#define CHAOS_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

/*
 * Write bytes [offset, offset + len) of the body with this seed. One body in four is a repeated
 * text that looks like HTTP requests, the others are random.
 */
void payload_fill(uint64_t seed, uint64_t offset, void *to, size_t len);

/* Hash (see hash.h) of the first `len` bytes of the body with this seed. */
uint64_t payload_hash(uint64_t seed, uint64_t len);

#endif
