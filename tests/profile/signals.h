/* SPDX-License-Identifier: Apache-2.0 */
/* Signals that interrupt work, and whose handler works itself. */
#ifndef PROFILE_SIGNALS_H
#define PROFILE_SIGNALS_H

/*
 * From now on signals come to whichever thread of the process uses the CPU, 200 of them for each
 * second that it does; on_signal() burns a fifth of that. The calling thread takes them on a stack
 * of its own.
 */
void signals_take(void);

#endif
