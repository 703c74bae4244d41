/* SPDX-License-Identifier: Apache-2.0 */
/* What this process takes of the machine, by the names that all exporters give to that. */
#ifndef CTXPROP_METRICS_PROCESS_H
#define CTXPROP_METRICS_PROCESS_H

#include "web/exposition.h"

void metrics_process(const struct exposition *exposition);

#endif
