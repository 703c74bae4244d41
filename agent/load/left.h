/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Network namespaces in which an earlier daemon worked because of --netns, and this one does not.
 * Their entries (entry.h) are still attached, and live connections there need them.
 */
#ifndef CTXPROP_LEFT_H
#define CTXPROP_LEFT_H

#include "pins/pins.h"

/* How many other namespaces share the maps of this layer; or -errno. */
int left_count(const struct pins *pins);

/*
 * Let the entries of all other namespaces that share the maps of this layer go on in programs that
 * translate and edit nothing. To be called when the layer is finished and its own namespace no
 * longer has entries. Returns how many namespaces there are, or -errno.
 */
int left_quieten(const struct pins *pins);

#endif
