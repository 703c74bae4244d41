/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that a daemon keeps for the next one, in pinned maps: they last as long as the programs do,
 * and need no file system that would have to be mounted into a container.
 *
 *   <pins of the namespace>/texts/<name>
 */
#ifndef CTXPROP_TEXTS_H
#define CTXPROP_TEXTS_H

#include "pins/pins.h"

/* Store a text under a name, in place of the one that is there. 0 or -errno. */
int texts_put(const struct pins *pins, const char *name, const char *text);

/* The text of that name, which the caller frees. 0, -ENOENT or -errno. */
int texts_get(const struct pins *pins, const char *name, char **ret_text);

/* Forget it; none is no error. 0 or -errno. */
int texts_drop(const struct pins *pins, const char *name);

#endif
