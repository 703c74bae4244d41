/* SPDX-License-Identifier: Apache-2.0 */
/* Was a layer made by a build with the same layout of maps? */
#ifndef CTXPROP_LAYOUT_H
#define CTXPROP_LAYOUT_H

#include <stddef.h>

/*
 * 0 when the layer's maps have the layout of this build; -ENOENT when the layer was never
 * finished; -EPROTO when it is another layout, which `ret_why` then names.
 */
int layout_check(const char *layer_dir, char *ret_why, size_t size);

#endif
