/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_NOTIFY_H
#define CTXPROP_NOTIFY_H

/*
 * Tell the service manager, if there is one, the state of this process ("READY=1", see
 * sd_notify(3)). Errors are ignored.
 */
void notify_manager(const char *state);

#endif
