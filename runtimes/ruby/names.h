/* SPDX-License-Identifier: Apache-2.0 */
/* Names of methods and blocks of Ruby, out of the memory of the process that runs them. */
#ifndef CTXPROP_RUNTIMES_RUBY_NAMES_H
#define CTXPROP_RUNTIMES_RUBY_NAMES_H

#include "runtimes/names.h"

extern const struct runtime_names ruby_names;

#endif
