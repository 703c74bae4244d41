/* SPDX-License-Identifier: Apache-2.0 */
/* What llhttp makes of a stream, and whether the framing automaton agrees. */
#ifndef CTXPROP_TEST_ORACLE_H
#define CTXPROP_TEST_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

#include "run.h"

/*
 * Do the automaton and llhttp agree on every end of a head and of a message? Either may
 * refuse the stream, but not let the other pass the place of its next boundary before.
 * `run` is of the same input. Returns true, or false and says in `text` what differs.
 */
bool oracle_agrees(const struct run_input *input, const struct run *run, char *text, size_t size);

#endif
