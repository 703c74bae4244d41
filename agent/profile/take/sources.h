/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the sources of ids and labels. */
#ifndef CTXPROP_PROFILE_TAKE_SOURCES_H
#define CTXPROP_PROFILE_TAKE_SOURCES_H

#include <linux/types.h>

/* As profiles name a source of ids; empty: there is none. */
const char *source_name(unsigned int source);

/* The words by which users switch them off, for messages. */
#define SOURCES_WORDS "otel, elastic, go, custom, registered or all"

/* Take the sources of such words ("go,custom") out of *sources. 0 or -EINVAL. */
int sources_without(const char *words, __u32 *sources);

#endif
