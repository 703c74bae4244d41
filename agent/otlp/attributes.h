/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of a message: a list of bounded length, in memory of its owner. */
#ifndef CTXPROP_OTLP_ATTRIBUTES_H
#define CTXPROP_OTLP_ATTRIBUTES_H

#include <stddef.h>
#include <linux/types.h>

#include "otlp/messages.h"

#define OTLP_ATTRIBUTES_MAX 24

/* Points into itself: not to be moved once it has attributes. */
struct otlp_attributes {
	size_t count;
	otlp_attribute *list[OTLP_ATTRIBUTES_MAX];
	otlp_attribute attribute[OTLP_ATTRIBUTES_MAX];
	otlp_value value[OTLP_ATTRIBUTES_MAX];
};

/*
 * Add an attribute; `key` and `text` have to stay until the message is written. A text that is NULL
 * or empty, and the number 0, stand for what is not known: nothing is added. More attributes than
 * fit are left out.
 */
void otlp_attributes_text(struct otlp_attributes *attributes, const char *key, const char *text);
void otlp_attributes_number(struct otlp_attributes *attributes, const char *key, __s64 number);

#endif
