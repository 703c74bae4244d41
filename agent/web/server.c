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
#include "web/jobs.h"
#include "web/patience.h"
#include "web/server.h"
#include "web/visitors.h"

#define TIMEOUT_SECONDS 15    /* without a byte; visitors.h has what holds besides */
#define HEAD_BYTES      16384 /* of a connection: what a request may be */
#define END_MS          2000  /* timeout for replies that are in progress when the server ends */

struct web {
	struct web_options options;
	struct visitors *visitors;
	struct jobs *jobs;
	struct MHD_Daemon *server;
};

static void on_log(void *data, const char *format, va_list arguments)
{
	char line[256];

	(void)data;
	vsnprintf(line, sizeof(line), format, arguments);
	line[strcspn(line, "\n")] = '\0';
	log_debug("http-server", "HTTP server: %s", line);
}

/* Is the request acceptable? If not, the reply says why. */
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

static struct visitor *visitor_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static enum MHD_Result give(const struct web *web, struct MHD_Connection *connection,
			    struct reply *reply)
{
	visitor_answered(web->visitors, visitor_of(connection));
	return reply_send(reply, connection) ? MHD_NO : MHD_YES;
}

/* The head is complete: if the request is not acceptable, answer now. */
static enum MHD_Result begin(struct web *web, struct MHD_Connection *connection, const char *path,
			     const char *method, void **state)
{
	const struct request request = {.connection = connection};
	struct reply reply = {.status = MHD_HTTP_OK};

	if (!is_welcome(web, &request, method, &reply))
		return give(web, connection, &reply);
	*state = job_new(connection, path);
	return *state ? MHD_YES : MHD_NO;
}

/* The whole request is there. */
static enum MHD_Result answer(struct web *web, struct job *job, struct MHD_Connection *connection)
{
	struct visitor *visitor = visitor_of(connection);

	visitor_asked(web->visitors, visitor);
	if (!job_begin(web->jobs, job, visitor_rivals(web->visitors, visitor)))
		return MHD_YES;
	return give(web, connection, job_reply(job));
}

/*
 * MHD_AccessHandlerCallback: once when the head is there, then with the body, then at its end, and
 * again when an answer was made that took its time.
 */
static enum MHD_Result on_request(void *data, struct MHD_Connection *connection, const char *path,
				  const char *method, const char *version, const char *body,
				  size_t *body_size, void **state)
{
	struct job *job = *state;

	(void)version;
	(void)body;
	if (!visitor_of(connection))
		return MHD_NO; /* there is no room for it */
	if (!job)
		return begin(data, connection, path, method, state);
	if (*body_size) {
		*body_size = 0;
		return MHD_YES;
	}
	if (job_reply(job))
		return give(data, connection, job_reply(job));
	return answer(data, job, connection);
}

/* MHD_RequestCompletedCallback */
static void on_completed(void *data, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode how)
{
	const struct web *web = data;
	struct visitor *visitor = visitor_of(connection);

	(void)how;
	job_free(*state);
	*state = NULL;
	if (visitor)
		visitor_done(web->visitors, visitor);
}

/* MHD_NotifyConnectionCallback */
static void on_connection(void *data, struct MHD_Connection *connection, void **visitor,
			  enum MHD_ConnectionNotificationCode what)
{
	const struct web *web = data;
	const union MHD_ConnectionInfo *fd, *address;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (*visitor)
			visitor_left(web->visitors, *visitor);
		return;
	}
	fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	address = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	if (fd && address)
		*visitor = visitor_came(web->visitors, fd->connect_fd, address->client_addr);
}

static struct MHD_Daemon *start_server(struct web *web, int fd)
{
	return MHD_start_daemon(
	    MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME, 0, NULL,
	    NULL, on_request, web, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
	    MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
	    (unsigned int)(VISITORS_MAX + VISITORS_GOING), MHD_OPTION_CONNECTION_TIMEOUT,
	    (unsigned int)TIMEOUT_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEAD_BYTES,
	    MHD_OPTION_NOTIFY_COMPLETED, on_completed, web, MHD_OPTION_NOTIFY_CONNECTION,
	    on_connection, web, MHD_OPTION_END);
}

static int start_threads(struct web *web, int fd)
{
	int err = patience_begin();

	if (err)
		return err;
	web->visitors = visitors_new();
	web->jobs = jobs_new(&web->options);
	if (web->visitors && web->jobs)
		web->server = start_server(web, fd);
	if (web->server)
		return 0;
	if (jobs_end(web->jobs, END_MS))
		jobs_free(web->jobs);
	visitors_free(web->visitors);
	patience_free();
	return -EIO;
}

/* Its threads get no signals: those are the main thread's. 0 or -errno. */
static int start(struct web *web, int fd)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = start_threads(web, fd);
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

/* A reply that hangs is abandoned, with the memory that it uses. */
void web_stop(struct web *web)
{
	if (!web)
		return;
	patience_end();
	if (!jobs_end(web->jobs, END_MS)) {
		log_warning("http-server", "HTTP server: a reply does not end; not waiting for it");
		return;
	}
	MHD_stop_daemon(web->server); /* closes the socket, too */
	jobs_free(web->jobs);
	visitors_free(web->visitors);
	patience_free();
	free(web);
}
