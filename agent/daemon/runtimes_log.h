/* SPDX-License-Identifier: Apache-2.0 */
/* What the log says about programs whose work moves between threads. */
#ifndef CTXPROP_RUNTIMES_LOG_H
#define CTXPROP_RUNTIMES_LOG_H

#include "runtime/runtimes.h"

void runtimes_log(const struct runtimes_news *news);
void runtimes_log_lack(const char *runtime, int err);

#endif
