/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a daemon wants the next one to know, as texts in pinned maps: they last as long as the
 * programs do, and need no file system that a container would have to be given.
 *
 *   <pins of the namespace>/texts/<name>
 */
#ifndef CTXPROP_TEXTS_H
#define CTXPROP_TEXTS_H

#include "pins/pins.h"

/* Keep a text in place of the one of that name. 0 or -errno. */
int texts_put(const struct pins *pins, const char *name, const char *text);

/* The text of that name, which the caller frees. 0, -ENOENT or -errno. */
int texts_get(const struct pins *pins, const char *name, char **ret_text);

/* Forget it; none is no error. 0 or -errno. */
int texts_drop(const struct pins *pins, const char *name);

#endif
