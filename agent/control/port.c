// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "control/port.h"
#include "control/protocol.h"
#include "pins/texts.h"

#define TEXT "port"

int control_port_keep(const struct pins *pins, __u32 port)
{
	char text[16];

	if (port == CONTROL_PORT)
		return texts_drop(pins, TEXT);
	snprintf(text, sizeof(text), "%u", port);
	return texts_put(pins, TEXT, text);
}

__u32 control_port_find(const struct pins *pins)
{
	_cleanup_free_ char *text = NULL;

	return texts_get(pins, TEXT, &text) ? CONTROL_PORT : (__u32)strtoul(text, NULL, 10);
}
