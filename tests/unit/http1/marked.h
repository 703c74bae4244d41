/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams with their events written into them, to be read by people:
 *
 *   <line> <blank> <head> <end>  the event comes before the next byte
 *   <stop:name>                  the next byte is refused; name is that of enum http1_stop
 *   <cr> <lf>                    these bytes; a newline of the text is CR LF
 */
#ifndef CTXPROP_TEST_MARKED_H
#define CTXPROP_TEST_MARKED_H

#include <stddef.h>
#include <stdint.h>

#include "run.h"

/* Take the events out of `text`. Returns the length of the stream; `bytes` has room for it. */
size_t marked_bytes(const char *text, uint8_t *bytes, size_t room);

/* Write the events of `run` into the stream; the result is `text` again if they are the same. */
void marked_text(const uint8_t *bytes, size_t len, const struct run *run, char *text, size_t room);

#endif
