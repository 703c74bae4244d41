// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <curl/curl.h>

#include "base/cleanup.h"
#include "base/unsampled.h"
#include "base/version.h"
#include "kubelet/fetch.h"
#include "kubelet/kubelet.h"

#define PATH               "/pods"
#define URL_MAX            256
#define TOKEN_MAX          16384
#define TIMEOUT_MS         10000
#define CONNECT_MS         5000
#define POLL_MS            1000
#define BEARER             "Authorization: Bearer "
#define PLAIN              "http://"
#define STATUS_OK          200
#define STATUS_DENIED      401
#define STATUS_NOT_ALLOWED 403

struct fetch {
	CURLM *multi;
	CURL *easy;
	const char *token;
	char url[URL_MAX];
	char error[CURL_ERROR_SIZE];
	FILE *out; /* of the answer that comes */
	size_t taken;
};

bool kubelet_url_is_good(const char *url)
{
	const size_t length = strlen(url);
	const char *host;

	if (strncmp(url, PLAIN, strlen(PLAIN)) != 0 && strncmp(url, "https://", 8) != 0)
		return false;
	host = strstr(url, "://") + 3;
	/* No path, no user, no query. */
	return *host && length + sizeof(PATH) <= URL_MAX && !strpbrk(host, "/@?# ");
}

static size_t take_answer(char *bytes, size_t size, size_t count, void *data)
{
	struct fetch *fetch = data;
	const size_t length = size * count;

	if (length > PODS_BYTES_MAX - fetch->taken)
		return 0;
	fetch->taken += length;
	return fwrite(bytes, 1, length, fetch->out);
}

static void set_options(struct fetch *fetch, const char *ca)
{
	CURL *easy = fetch->easy;

	curl_easy_setopt(easy, CURLOPT_URL, fetch->url);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* it is on this node */
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_answer);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, fetch);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, fetch->error);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "ctxprop/" CTXPROP_VERSION);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)TIMEOUT_MS);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	if (ca)
		curl_easy_setopt(easy, CURLOPT_CAINFO, ca);
}

/* Brackets are for IPv6; around others they are left out, so that one manifest fits both. */
static void put_url(struct fetch *fetch, const char *url)
{
	const char *open = strchr(url, '['), *close = open ? strchr(open, ']') : NULL;

	if (close && !memchr(open, ':', (size_t)(close - open)))
		snprintf(fetch->url, sizeof(fetch->url), "%.*s%.*s%s" PATH, (int)(open - url), url,
			 (int)(close - open - 1), open + 1, close + 1);
	else
		snprintf(fetch->url, sizeof(fetch->url), "%s" PATH, url);
}

int fetch_new(const char *url, const char *token, const char *ca, struct fetch **ret_fetch)
{
	struct fetch *fetch = calloc(1, sizeof(*fetch));

	if (!fetch)
		return -ENOMEM;
	put_url(fetch, url);
	fetch->token = token;
	fetch->multi = curl_multi_init();
	fetch->easy = curl_easy_init();
	if (!fetch->multi || !fetch->easy) {
		fetch_free(fetch);
		return -ENOMEM;
	}
	set_options(fetch, ca);
	*ret_fetch = fetch;
	return 0;
}

void fetch_free(struct fetch *fetch)
{
	if (!fetch)
		return;
	curl_easy_cleanup(fetch->easy);
	curl_multi_cleanup(fetch->multi);
	free(fetch);
}

/* The field with the token. 0, or -errno and why. */
static int read_token(const char *path, char field[TOKEN_MAX], char *ret_why, size_t why_size)
{
	const size_t begin = sizeof(BEARER) - 1;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t size;

	memcpy(field, BEARER, begin);
	size = fd < 0 ? -1 : read(fd, field + begin, TOKEN_MAX - begin - 1);
	if (size < 0) {
		snprintf(ret_why, why_size, "%.120s: %s", path, strerror(errno));
		return -errno;
	}
	field[begin + (size_t)size] = '\0';
	field[begin + strcspn(field + begin, " \r\n")] = '\0';
	if (field[begin])
		return 0;
	snprintf(ret_why, why_size, "%.120s: no token", path);
	return -EINVAL;
}

static int append(struct curl_slist **fields, const char *line)
{
	struct curl_slist *longer = curl_slist_append(*fields, line);

	if (!longer)
		return -ENOMEM;
	*fields = longer;
	return 0;
}

/* Everybody who has the network could read a token that goes by http. */
static int make_fields(const struct fetch *fetch, struct curl_slist **fields, char *ret_why,
		       size_t why_size)
{
	char traceparent[UNSAMPLED_SIZE], token[TOKEN_MAX];
	int err = 0;

	unsampled_draw(traceparent);
	snprintf(ret_why, why_size, "no memory");
	if (fetch->token && strncmp(fetch->url, PLAIN, strlen(PLAIN)) != 0) {
		err = read_token(fetch->token, token, ret_why, why_size);
		if (!err)
			err = append(fields, token);
		explicit_bzero(token, sizeof(token));
	}
	return err ? err : append(fields, traceparent);
}

/* 0, when the transfer has ended; or -ECANCELED. */
static int transfer(struct fetch *fetch, const atomic_bool *ends)
{
	int running = 1;

	while (running && !atomic_load(ends)) {
		if (curl_multi_perform(fetch->multi, &running) != CURLM_OK)
			return 0;
		if (running)
			curl_multi_poll(fetch->multi, NULL, 0, POLL_MS, NULL);
	}
	return running ? -ECANCELED : 0;
}

/* How it has ended. */
static int judge(struct fetch *fetch, char *ret_why, size_t why_size)
{
	int left;
	const CURLMsg *message = curl_multi_info_read(fetch->multi, &left);
	long status = 0;

	if (!message || message->data.result != CURLE_OK) {
		snprintf(ret_why, why_size, "%s",
			 *fetch->error ? fetch->error
			 : message     ? curl_easy_strerror(message->data.result)
				       : "it was not sent");
		return -EIO;
	}
	curl_easy_getinfo(fetch->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status == STATUS_OK)
		return 0;
	snprintf(ret_why, why_size, "%s answers %ld%s", fetch->url, status,
		 status == STATUS_DENIED        ? ": the token (--kubelet-token) is not accepted"
		 : status == STATUS_NOT_ALLOWED ? ": the right to get nodes/pods is missing"
						: "");
	return -EACCES;
}

static int exchange(struct fetch *fetch, const atomic_bool *ends, struct curl_slist *fields,
		    char *ret_why, size_t why_size)
{
	int err;

	fetch->taken = 0;
	*fetch->error = '\0';
	curl_easy_setopt(fetch->easy, CURLOPT_HTTPHEADER, fields);
	curl_multi_add_handle(fetch->multi, fetch->easy);
	err = transfer(fetch, ends);
	if (!err)
		err = judge(fetch, ret_why, why_size);
	curl_multi_remove_handle(fetch->multi, fetch->easy);
	return err;
}

int fetch_text(struct fetch *fetch, const atomic_bool *ends, char **ret_text, size_t *ret_size,
	       char *ret_why, size_t why_size)
{
	struct curl_slist *fields = NULL;
	char *text = NULL;
	size_t size = 0;
	int err = make_fields(fetch, &fields, ret_why, why_size);

	fetch->out = err ? NULL : open_memstream(&text, &size);
	if (fetch->out) {
		err = exchange(fetch, ends, fields, ret_why, why_size);
		if (fclose(fetch->out) && !err)
			err = -ENOMEM;
	} else if (!err) {
		err = -ENOMEM;
	}
	curl_slist_free_all(fields);
	if (err) {
		free(text);
		return err;
	}
	*ret_text = text;
	*ret_size = size;
	return 0;
}

void fetch_wait(struct fetch *fetch, int ms)
{
	curl_multi_poll(fetch->multi, NULL, 0, ms, NULL);
}

void fetch_wake(struct fetch *fetch)
{
	curl_multi_wakeup(fetch->multi);
}
