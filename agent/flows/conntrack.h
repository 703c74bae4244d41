/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_CONNTRACK_H
#define CTXPROP_CONNTRACK_H

#include "flows/liveness.h"

/* Is a TCP connection tracked whose replies go from dst to src? */
enum liveness conntrack_ask(const struct tuple *tuple);

#endif
