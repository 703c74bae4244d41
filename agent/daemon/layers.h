/* SPDX-License-Identifier: Apache-2.0 */
/* What other daemons left under the pins: older layers here, and namespaces that are gone. */
#ifndef CTXPROP_LAYERS_H
#define CTXPROP_LAYERS_H

#include "pins/pins.h"

/* Switch off the edits of this namespace's other layers; they keep translating. Logs each. */
void layers_pause_others(const struct pins *pins);

#endif
