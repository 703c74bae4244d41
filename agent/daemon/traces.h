/* SPDX-License-Identifier: Apache-2.0 */
/* What is made of requests for people to see, as the options say. */
#ifndef CTXPROP_TRACES_H
#define CTXPROP_TRACES_H

#include "daemon/options.h"
#include "load/engine.h"
#include "trace/tracer.h"

/*
 * Begin to make spans and to hand them on. NULL: nobody wants them, or it cannot be done (logged);
 * everything else goes on.
 */
struct tracer *traces_begin(const struct engine *engine, const struct options *options);

#endif
