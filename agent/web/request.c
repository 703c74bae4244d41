// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <microhttpd.h>

#include "web/request.h"

/* Nothing but what this server gives is loaded, nobody else shows it, nobody keeps it. */
static const char usual_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";
static const char *const fields[][2] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

const char *request_field(const struct request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *request_parameter(const struct request *request, const char *name)
{
	const char *value = NULL;

	if (MHD_lookup_connection_value_n(request->connection, MHD_GET_ARGUMENT_KIND, name,
					  strlen(name), &value, NULL) != MHD_YES)
		return NULL;
	return value ? value : "";
}

void reply_text(struct reply *reply, unsigned int status, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	buffer_free(&reply->body);
	buffer_printf(&reply->body, "%s\n", text);
	reply->status = status;
	reply->type = "text/plain; charset=utf-8";
}

static struct MHD_Response *response_of(struct reply *reply)
{
	struct MHD_Response *response;

	if (reply->lasting)
		return MHD_create_response_from_buffer(reply->lasting_size, (void *)reply->lasting,
						       MHD_RESPMEM_PERSISTENT);
	response = MHD_create_response_from_buffer(reply->body.size, reply->body.text,
						   MHD_RESPMEM_MUST_FREE);
	if (response)
		reply->body = (struct buffer){};
	return response;
}

static void add_fields(struct MHD_Response *response, const struct reply *reply)
{
	char seconds[16];

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		MHD_add_response_header(response, fields[i][0], fields[i][1]);
	MHD_add_response_header(response, "Content-Security-Policy",
				reply->policy ? reply->policy : usual_policy);
	MHD_add_response_header(response, "X-Frame-Options", reply->policy ? "SAMEORIGIN" : "DENY");
	MHD_add_response_header(response, "Content-Type", reply->type);
	if (reply->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	if (!reply->retry_seconds)
		return;
	snprintf(seconds, sizeof(seconds), "%u", reply->retry_seconds);
	MHD_add_response_header(response, "Retry-After", seconds);
}

int reply_send(struct reply *reply, struct MHD_Connection *connection)
{
	struct MHD_Response *response;
	enum MHD_Result result;

	if (reply->body.failed)
		reply_text(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "no memory");
	response = response_of(reply);
	buffer_free(&reply->body);
	if (!response)
		return -ENOMEM;
	add_fields(response, reply);
	result = MHD_queue_response(connection, reply->status, response);
	MHD_destroy_response(response);
	return result == MHD_YES ? 0 : -ENOMEM;
}
