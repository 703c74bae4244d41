/* SPDX-License-Identifier: Apache-2.0 */
/* A pretended agent inside the client: shows without a real one that the checks can fail. */
#ifndef CHAOS_FAKE_H
#define CHAOS_FAKE_H

#include "plan.h"

/* Add to the finished head what --fake asks for; the plan does not know of it. */
void fake_add(struct plan *plan, const struct settings *settings);

#endif
