// SPDX-License-Identifier: Apache-2.0
/* What must not link: it stands on the floor of agent/base, and asks for agent/pins. */
#include "pins/texts.h"

int upward(const struct pins *pins);

int upward(const struct pins *pins)
{
	return texts_put(pins, "upward", "");
}
