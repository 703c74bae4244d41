/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs once for each connection that is left alone why it is. They are found in the flow table,
 * which is read once a second, so that shorter connections may not be logged.
 */
#ifndef CTXPROP_DAEMON_FLOW_LOG_H
#define CTXPROP_DAEMON_FLOW_LOG_H

struct flow_log;

/* `flows_fd`: the map `flows`; the caller's, and open for as long as this is. 0 or -ENOMEM. */
int flow_log_new(int flows_fd, struct flow_log **ret_log);

/*
 * Read the table if it is time. Returns the milliseconds until it is time again; -1: `log` is NULL.
 */
int flow_log_do(struct flow_log *log);

/* NULL is allowed. */
void flow_log_free(struct flow_log *log);

#endif
