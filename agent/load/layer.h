/* SPDX-License-Identifier: Apache-2.0 */
/* The layer of a network namespace whose programs and maps are those of another one. */
#ifndef CTXPROP_LAYER_H
#define CTXPROP_LAYER_H

#include <stdbool.h>

#include "pins/pins.h"

/*
 * Make the layer of a namespace, with the maps of the layer `from`. A finished layer with other
 * maps is moved aside: its programs go on with them. The caller holds the lock of the pins. 0 or
 * -errno.
 */
int layer_share(const struct pins *pins, const char *from, bool *ret_set_aside);

/* Are the maps of a layer those of the layer `from`? */
bool layer_has_maps_of(const char *layer_dir, const char *from);

#endif
