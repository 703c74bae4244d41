// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <microhttpd.h>

#include "base/log.h"
#include "web/pages.h"
#include "web/patience.h"
#include "web/server.h"

#define CONNECTIONS     64
#define THREADS         2
#define TIMEOUT_SECONDS 15
#define HEAD_BYTES      16384 /* of a connection: what a request may be */

struct web {
	struct web_options options;
	struct MHD_Daemon *server;
};

static void on_log(void *data, const char *format, va_list arguments)
{
	char line[256];

	(void)data;
	vsnprintf(line, sizeof(line), format, arguments);
	line[strcspn(line, "\n")] = '\0';
	log_debug("HTTP server: %s", line);
}

/* Is it a request that gets an answer? If not, the reply says why. */
static bool is_welcome(const struct web *web, const struct request *request, const char *method,
		       struct reply *reply)
{
	if (!web_hosts_allow(&web->options.hosts, request_field(request, "Host")))
		reply_text(reply, MHD_HTTP_MISDIRECTED_REQUEST,
			   "this server does not answer to that name; see ctxpropd --http-host");
	else if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		reply_text(reply, MHD_HTTP_METHOD_NOT_ALLOWED, "nothing can be changed here");
	else
		return true;
	return false;
}

/* MHD_AccessHandlerCallback: once when the head is there, then with the body, then at its end. */
static enum MHD_Result on_request(void *data, struct MHD_Connection *connection, const char *path,
				  const char *method, const char *version, const char *body,
				  size_t *body_size, void **state)
{
	struct request request = {.connection = connection};
	struct reply reply = {.status = MHD_HTTP_OK};
	const struct web *web = data;

	(void)version;
	(void)body;
	if (!is_welcome(web, &request, method, &reply))
		return reply_send(&reply, connection) ? MHD_NO : MHD_YES;
	if (!*state || *body_size) {
		*state = data;
		*body_size = 0;
		return MHD_YES;
	}
	pages_answer(&web->options, path, &request, &reply);
	return reply_send(&reply, connection) ? MHD_NO : MHD_YES;
}

static struct MHD_Daemon *start_server(struct web *web, int fd)
{
	return MHD_start_daemon(
	    MHD_USE_EPOLL | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ERROR_LOG, 0, NULL, NULL,
	    on_request, web, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
	    MHD_OPTION_THREAD_POOL_SIZE, (unsigned int)THREADS, MHD_OPTION_CONNECTION_LIMIT,
	    (unsigned int)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)TIMEOUT_SECONDS,
	    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEAD_BYTES, MHD_OPTION_END);
}

/* Its threads get no signals: those are the main thread's. 0 or -errno. */
static int start(struct web *web, int fd)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = patience_begin();
	if (!err) {
		web->server = start_server(web, fd);
		err = web->server ? 0 : -EIO;
		if (err)
			patience_free();
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

int web_start(const struct web_options *options, struct web **ret_web)
{
	struct web *web = calloc(1, sizeof(*web));
	int fd = web ? web_listen(&options->address) : -ENOMEM, err;

	if (fd < 0) {
		free(web);
		return fd;
	}
	web->options = *options;
	err = start(web, fd);
	if (err) {
		close(fd);
		free(web);
		return err;
	}
	*ret_web = web;
	return 0;
}

void web_stop(struct web *web)
{
	if (!web)
		return;
	patience_end();
	MHD_stop_daemon(web->server); /* closes the socket, too */
	patience_free();
	free(web);
}
