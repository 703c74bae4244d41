// SPDX-License-Identifier: Apache-2.0
/*
 * bench_load ADDRESS PORT CONNECTIONS HEAD BODY PIPELINE RECONNECT
 *
 * Opens its connections, prints "ready", then obeys lines of standard input until its end:
 * "run MILLISECONDS RATE" sends requests (RATE per second, 0: closed loop) and answers with one
 * line of JSON. A process that lives through all rounds keeps starting costs out of the figures.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "request.h"

static int usage(void)
{
	fprintf(stderr,
		"bench_load: expected ADDRESS PORT CONNECTIONS(1..%d) HEAD(>= %d) BODY "
		"PIPELINE(>= 1) RECONNECT(0 or 1)\n",
		CLIENT_CONNECTIONS_MAX, REQUEST_HEAD_MIN);
	return EXIT_FAILURE;
}

static int parse(char **argv, struct client *client)
{
	size_t head = strtoul(argv[4], NULL, 10), body = strtoul(argv[5], NULL, 10);

	client->server.sin_family = AF_INET;
	client->server.sin_port = htons((uint16_t)strtoul(argv[2], NULL, 10));
	client->connections = (unsigned)strtoul(argv[3], NULL, 10);
	client->pipeline = (unsigned)strtoul(argv[6], NULL, 10);
	client->reconnect = !strcmp(argv[7], "1");
	if (inet_pton(AF_INET, argv[1], &client->server.sin_addr) != 1 || !client->pipeline ||
	    !client->connections || client->connections > CLIENT_CONNECTIONS_MAX)
		return -EINVAL;
	client->batch = request_build(head, body, client->pipeline, client->reconnect);
	client->batch_size = (head + body) * client->pipeline;
	return client->batch ? 0 : -EINVAL;
}

static void print_run(const struct client *client, const struct run *run)
{
	printf("{\"requests\": %llu, \"bytes\": %llu, \"seconds\": %.6f, \"p50_us\": %.3f, "
	       "\"p99_us\": %.3f}\n",
	       (unsigned long long)run->requests,
	       (unsigned long long)(run->requests * (client->batch_size / client->pipeline)),
	       (double)run->elapsed_ns / 1e9,
	       (double)histogram_quantile(&run->latency_ns, 0.50) / 1e3,
	       (double)histogram_quantile(&run->latency_ns, 0.99) / 1e3);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct client client;
	static struct run run;
	char line[80];

	if (argc != 8 || parse(argv, &client))
		return usage();
	if (client_open(&client))
		return EXIT_FAILURE;
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		unsigned duration_ms, rate;

		if (sscanf(line, "run %u %u", &duration_ms, &rate) != 2) {
			fprintf(stderr, "bench_load: expected \"run MILLISECONDS RATE\", got %s",
				line);
			return EXIT_FAILURE;
		}
		if (client_run(&client, duration_ms, rate, &run))
			return EXIT_FAILURE;
		print_run(&client, &run);
	}
	return EXIT_SUCCESS;
}
