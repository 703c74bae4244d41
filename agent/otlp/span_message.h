/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A span as a message of OTLP, with attributes by the stable semantic conventions for HTTP of
 * OpenTelemetry. What no convention has a name for is called ctxprop.*.
 */
#ifndef CTXPROP_OTLP_SPAN_MESSAGE_H
#define CTXPROP_OTLP_SPAN_MESSAGE_H

#include "base/address.h"
#include "otlp/attributes.h"
#include "otlp/messages.h"
#include "trace/span.h"

/* The message and what it points to, but for the texts of the span. Not to be moved. */
struct span_message {
	otlp_span span;
	otlp_status status;
	struct otlp_attributes attributes;
	char name[SPAN_METHOD_MAX + SPAN_ROUTE_MAX];
	char status_text[16];
	char server[SPAN_HOST_MAX], local[ADDRESS_TEXT_MAX], remote[ADDRESS_TEXT_MAX];
	char url[sizeof("http://") + SPAN_HOST_MAX + SPAN_PATH_MAX];
};

/*
 * Fill `ret_message`, which is good for as long as `span` is. The texts of the span have to be
 * UTF-8. `boot_to_wall_ns` makes its times those of the clock (CLOCK_REALTIME).
 */
void span_message_fill(struct span_message *ret_message, const struct span *span,
		       __s64 boot_to_wall_ns);

#endif
