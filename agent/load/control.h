/* SPDX-License-Identifier: Apache-2.0 */
/* The switches that act at once on a layer's running programs. */
#ifndef CTXPROP_CONTROL_H
#define CTXPROP_CONTROL_H

#include <stdbool.h>

/* Switch editing off (true) or on; live flows stay translated. 0 or -errno. */
int control_set_paused(const char *layer_dir, bool paused);

/* 1 when editing is off, 0 when it is on, or -errno. */
int control_is_paused(const char *layer_dir);

#endif
