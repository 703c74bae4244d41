/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Most programs learn from what they see: each call teaches something of its process. Those that
 * only ask what is worked on (the profiler's, which may interrupt any other program) define
 * ENGINE_ASKS. They have the same rules, but whatever changes a map is left out of them. (Where
 * nothing is known they may have more of the program watched: runtimes/asked.bpf.h.)
 */
#ifndef CTXPROP_ENGINE_LEARNS_H
#define CTXPROP_ENGINE_LEARNS_H

#ifdef ENGINE_ASKS
#define ENGINE_LEARNS 0
#else
#define ENGINE_LEARNS 1
#endif

#endif
