/* SPDX-License-Identifier: Apache-2.0 */
/* What became of questions about the profile that is kept. */
#ifndef CTXPROP_METRICS_ANSWERS_H
#define CTXPROP_METRICS_ANSWERS_H

#include "web/exposition.h"

void metrics_answers(const struct exposition *exposition);

#endif
