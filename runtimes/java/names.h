/* SPDX-License-Identifier: Apache-2.0 */
/* Names of methods of Java, and of code of its virtual machine, out of the memory of the process.
 */
#ifndef CTXPROP_RUNTIMES_JAVA_NAMES_H
#define CTXPROP_RUNTIMES_JAVA_NAMES_H

#include "runtimes/names.h"

extern const struct runtime_names java_names;

#endif
