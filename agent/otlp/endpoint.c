// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <curl/curl.h>

#include "otlp/endpoint.h"

static const char traces_path[] = "/v1/traces", logs_path[] = "/v1/logs";

/* A part of a URL, or the whole; NULL: there is none. The caller's to free (curl_free()). */
static char *part_of(CURLU *url, CURLUPart part)
{
	char *text = NULL;

	return curl_url_get(url, part, &text, 0) == CURLUE_OK ? text : NULL;
}

static bool is_http(CURLU *url)
{
	char *scheme = part_of(url, CURLUPART_SCHEME);
	bool is = scheme && (!strcmp(scheme, "http") || !strcmp(scheme, "https"));

	curl_free(scheme);
	return is;
}

static size_t without_slashes(const char *path)
{
	size_t length = path ? strlen(path) : 0;

	while (length && path[length - 1] == '/')
		length--;
	return length;
}

static int set_path(CURLU *url, const char *before, size_t length, const char *path)
{
	char *whole = NULL;
	int err = 0;

	if (asprintf(&whole, "%.*s%s", (int)length, length ? before : "", path) < 0)
		return -ENOMEM;
	if (curl_url_set(url, CURLUPART_PATH, whole, 0) != CURLUE_OK)
		err = -EINVAL;
	free(whole);
	return err;
}

/* Add the path of OTLP, where it is wanted. */
static int complete_traces(CURLU *url, bool is_base)
{
	char *path = part_of(url, CURLUPART_PATH);
	size_t length = without_slashes(path);
	int err = !length || is_base ? set_path(url, path, length, traces_path) : 0;

	curl_free(path);
	return err;
}

/* The same for logs, in place of that for traces if it is there. */
static int complete_logs(CURLU *url, bool is_base)
{
	char *path = part_of(url, CURLUPART_PATH);
	size_t length = without_slashes(path), traces = sizeof(traces_path) - 1;
	bool is_of_traces =
	    !is_base && length >= traces && !memcmp(path + length - traces, traces_path, traces);
	int err = -ENOENT;

	if (is_of_traces)
		length -= traces;
	if (!length || is_base || is_of_traces)
		err = set_path(url, path, length, logs_path);
	curl_free(path);
	return err;
}

static char *copy_whole(CURLU *url)
{
	char *whole = part_of(url, CURLUPART_URL), *copy = whole ? strdup(whole) : NULL;

	curl_free(whole);
	return copy;
}

static int write_out(CURLU *url, struct endpoint *ret_endpoint)
{
	struct endpoint endpoint = {.url = copy_whole(url)};

	curl_url_set(url, CURLUPART_USER, NULL, 0);
	curl_url_set(url, CURLUPART_PASSWORD, NULL, 0);
	endpoint.shown = copy_whole(url);
	if (endpoint.url && endpoint.shown) {
		*ret_endpoint = endpoint;
		return 0;
	}
	endpoint_free(&endpoint);
	return -ENOMEM;
}

static int parse(const char *url, bool is_base, int (*complete)(CURLU *url, bool is_base),
		 struct endpoint *ret_endpoint)
{
	CURLU *parsed = curl_url();
	int err = parsed ? 0 : -ENOMEM;

	/* Only a URL with a scheme: "localhost:4318" would be one of the scheme "localhost". */
	if (!err && (curl_url_set(parsed, CURLUPART_URL, url, 0) != CURLUE_OK || !is_http(parsed)))
		err = -EINVAL;
	if (!err)
		err = complete(parsed, is_base);
	if (!err)
		err = write_out(parsed, ret_endpoint);
	curl_url_cleanup(parsed);
	return err;
}

int endpoint_parse(const char *url, bool is_base, struct endpoint *ret_endpoint)
{
	return parse(url, is_base, complete_traces, ret_endpoint);
}

int endpoint_parse_logs(const char *url, bool is_base, struct endpoint *ret_endpoint)
{
	return parse(url, is_base, complete_logs, ret_endpoint);
}

void endpoint_free(struct endpoint *endpoint)
{
	free(endpoint->url);
	free(endpoint->shown);
	*endpoint = (struct endpoint){};
}
