/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A closed-loop HTTP client that costs as little as possible, so that the cost of what stands
 * between it and the server shows. It trusts the server to answer every request alike.
 */
#ifndef CTXPROP_BENCH_CLIENT_H
#define CTXPROP_BENCH_CLIENT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "histogram.h"

#define CLIENT_CONNECTIONS_MAX 256

struct connection {
	int fd; /* -1: none */
	bool busy;
	size_t sent;       /* bytes of the batch */
	size_t received;   /* bytes of its answers */
	uint64_t since_ns; /* CLOCK_MONOTONIC: when the batch began */
};

struct client {
	struct sockaddr_in server;
	int epoll;
	unsigned connections;
	unsigned pipeline; /* requests in one batch */
	bool reconnect;    /* a new connection for each batch */
	const char *batch; /* what is sent; owned by the caller */
	size_t batch_size;
	size_t answer_size; /* of one answer; learned by client_open() */
	struct connection connection[CLIENT_CONNECTIONS_MAX];
};

struct run {
	uint64_t requests;
	uint64_t elapsed_ns;
	struct histogram latency_ns; /* per batch */
};

/*
 * Learn the size of an answer with one request, then open the connections. The caller has set
 * server, connections, pipeline, reconnect and batch. 0, or -errno with a message on stderr.
 */
int client_open(struct client *client);

/*
 * Send batches for `duration_ms`, at most `rate` requests per second (0: as fast as answers come),
 * and wait for the outstanding answers. 0, or -errno with a message on stderr: a wrong, missing
 * or late (5 s) answer makes the whole run worthless.
 */
int client_run(struct client *client, unsigned duration_ms, unsigned rate, struct run *ret_run);

#endif
