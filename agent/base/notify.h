/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_NOTIFY_H
#define CTXPROP_NOTIFY_H

/*
 * Tell the service manager how we are ("READY=1", see sd_notify(3)), if there is one that wants to
 * know. What goes wrong with that is nobody's trouble.
 */
void notify_manager(const char *state);

#endif
