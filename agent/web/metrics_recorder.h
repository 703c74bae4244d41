/* SPDX-License-Identifier: Apache-2.0 */
/* What a continuous profile has taken and lost. */
#ifndef CTXPROP_METRICS_RECORDER_H
#define CTXPROP_METRICS_RECORDER_H

#include "profile/keep/recorder_counts.h"
#include "web/exposition.h"

void metrics_recorder(const struct recorder_counts *counts, const struct exposition *exposition);

#endif
