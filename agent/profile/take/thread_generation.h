/* SPDX-License-Identifier: Apache-2.0 */
/* Since when glibc has a module of thread-local variables loaded, by its own count. */
#ifndef CTXPROP_PROFILE_TAKE_THREAD_GENERATION_H
#define CTXPROP_PROFILE_TAKE_THREAD_GENERATION_H

#include "profile/take/thread_slot.h"

/*
 * Fill in `generation` and `generation_at` of a variable of model PROFILE_TLS_GLIBC, whose module
 * is known. They stay as they are if the process does not tell: glibc before 2.34, or one that was
 * linked statically.
 */
void thread_generation_find(const struct thread_modules *modules, struct profile_tls *tls);

#endif
