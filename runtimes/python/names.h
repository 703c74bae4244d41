/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions of Python, out of the memory of the process that runs them. */
#ifndef CTXPROP_RUNTIMES_PYTHON_NAMES_H
#define CTXPROP_RUNTIMES_PYTHON_NAMES_H

#include "runtimes/names.h"

extern const struct runtime_names python_names;

#endif
