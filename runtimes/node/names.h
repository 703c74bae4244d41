/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions of JavaScript, out of the memory of the process. */
#ifndef CTXPROP_RUNTIMES_NODE_NAMES_H
#define CTXPROP_RUNTIMES_NODE_NAMES_H

#include "runtimes/names.h"

extern const struct runtime_names node_names;

#endif
