/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections that are left alone, in the log: why, once for each. They are found in the flow
 * table, which is read once a second, so that those are not told of that have gone by then.
 */
#ifndef CTXPROP_DAEMON_FLOW_LOG_H
#define CTXPROP_DAEMON_FLOW_LOG_H

struct flow_log;

/* `flows_fd`: the map `flows`; the caller's, and open for as long as this is. 0 or -ENOMEM. */
int flow_log_new(int flows_fd, struct flow_log **ret_log);

/* Look, if it is time to. Returns the milliseconds until it is again; -1: `log` is NULL. */
int flow_log_do(struct flow_log *log);

/* NULL is allowed. */
void flow_log_free(struct flow_log *log);

#endif
