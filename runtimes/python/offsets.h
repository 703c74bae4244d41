/* SPDX-License-Identifier: Apache-2.0 */
/* Where things stand in structs of CPython, by its version. */
#ifndef CTXPROP_RUNTIMES_PYTHON_OFFSETS_H
#define CTXPROP_RUNTIMES_PYTHON_OFFSETS_H

#include <stdbool.h>

#include "runtimes/runtime.h"

/* Are the structs of Python 3.<minor> known? */
bool python_layout_is_known(unsigned int minor);

/* Fill in what depends on the version alone. 0, or -ENOTSUP: they are not known. */
int python_layout_fill(unsigned int minor, struct runtime_python *ret_places);

#endif
