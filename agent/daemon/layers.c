// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/log.h"
#include "daemon/layers.h"
#include "load/control.h"

static int pause_if_other(const char *path, const char *name, void *data)
{
	const struct pins *pins = data;
	int err;

	if (!strcmp(path, pins->layer_dir))
		return 0;
	err = control_set_paused(path, true);
	if (err)
		log_warning("older-layer-edits", "older layer %s: cannot switch off its edits: %s",
			    name, strerror(-err));
	else
		log_warning(
		    "older-layer",
		    "older layer %s: it only translates from now on; `ctxprop detach` removes it",
		    name);
	return 0;
}

void layers_pause_others(const struct pins *pins)
{
	pins_each_layer(pins, pause_if_other, (void *)pins);
}
