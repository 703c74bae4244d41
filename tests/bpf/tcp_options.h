/* SPDX-License-Identifier: Apache-2.0 */
/* TCP options as real stacks lay them out. Each function returns how many bytes it wrote. */
#ifndef CTXPROP_TEST_TCP_OPTIONS_H
#define CTXPROP_TEST_TCP_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#define TCP_NOP        1
#define TIMESTAMPS_LEN 12

/* NOP, NOP, timestamps. */
size_t tcp_timestamps(uint8_t *to);

/* What a SYN-ACK has: MSS, SACK permitted, window scale; none of those that are 0. */
size_t tcp_syn_options(uint8_t *to, uint16_t mss, uint8_t wscale);

/*
 * NOP, NOP and a SACK option in the room that `room` blocks take, with `n` of them: pairs of
 * numbers at `edge`. What is not needed is NOPs, with no block at all also the option itself.
 */
size_t tcp_sack(uint8_t *to, size_t room, const uint32_t *edge, size_t n);

#endif
