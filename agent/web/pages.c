// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "web/api.h"
#include "web/files.h"
#include "web/pages.h"

struct page {
	const char *path;
	bool has_rest; /* the path goes on */
	enum page_time time;
	void (*answer)(const struct web_options *options, struct request *request,
		       struct reply *reply);
};

static void answer_metrics(const struct web_options *options, struct request *request,
			   struct reply *reply)
{
	const bool open = exposition_prefers_open_metrics(request_field(request, "Accept"));
	const struct exposition exposition = {.out = &reply->body, .is_open_metrics = open};

	reply->type = open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
			   : "text/plain; version=0.0.4; charset=utf-8";
	metrics_page(&options->metrics, &exposition);
}

static void answer_health(const struct web_options *options, struct request *request,
			  struct reply *reply)
{
	char why[128];

	(void)request;
	if (options->health(why, sizeof(why)))
		reply_text(reply, 503, "%s", why);
	else
		reply_text(reply, 200, "ok");
}

/* The server begins when all is attached, and ends before anything else does. */
static void answer_ready(const struct web_options *options, struct request *request,
			 struct reply *reply)
{
	(void)options;
	(void)request;
	reply_text(reply, 200, "ok");
}

static const struct page pages[] = {
    {"/metrics", false, PAGE_SOON, answer_metrics},
    {"/healthz", false, PAGE_AT_ONCE, answer_health},
    {"/readyz", false, PAGE_AT_ONCE, answer_ready},
    {"/api/v1/traces", false, PAGE_LATER, api_traces},
    {"/api/v1/traces/", true, PAGE_LATER, api_trace},
    {"/api/v1/endpoints", false, PAGE_LATER, api_endpoints},
    {"/api/v1/map", false, PAGE_LATER, api_map},
    {"/api/v1/policy", false, PAGE_SOON, api_policy},
    {"/api/v1/profile", false, PAGE_LATER, api_profile},
    {"/api/v1/profile.svg", false, PAGE_LATER, api_profile_picture},
};

static bool is_asked_for(const struct page *page, const char *path)
{
	return page->has_rest ? !strncmp(path, page->path, strlen(page->path))
			      : !strcmp(path, page->path);
}

/* A file of the page; the first one also by no name. Returns whether there is such a file. */
static bool answer_file(const char *path, struct reply *reply)
{
	for (size_t i = 0; i < web_files_count; i++) {
		const struct web_file *file = &web_files[i];

		if (strcmp(path, file->path) != 0 && (i || strcmp(path, "/") != 0))
			continue;
		reply->type = file->type;
		reply->lasting = (const char *)file->bytes;
		reply->lasting_size = file->size;
		return true;
	}
	return false;
}

/* What says nothing of single requests. */
static bool is_harmless(const char *path)
{
	return !strcmp(path, "/metrics") || !strcmp(path, "/healthz") || !strcmp(path, "/readyz");
}

/* NULL: there is none, or it is a file. */
static const struct page *find(const struct web_options *options, const char *path)
{
	if (!options->shows_traces && !is_harmless(path))
		return NULL;
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (is_asked_for(&pages[i], path))
			return &pages[i];
	return NULL;
}

enum page_time pages_time(const struct web_options *options, const char *path)
{
	const struct page *page = find(options, path);

	return page ? page->time : PAGE_AT_ONCE;
}

void pages_answer(const struct web_options *options, const char *path, struct request *request,
		  struct reply *reply)
{
	const struct page *page = find(options, path);

	if (page) {
		request->rest = path + strlen(page->path);
		page->answer(options, request, reply);
	} else if (!options->shows_traces) {
		reply_text(reply, 404,
			   "traces are shown when ctxpropd is told so: --http ADDRESS:PORT");
	} else if (!answer_file(path, reply)) {
		reply_text(reply, 404, "there is no such page");
	}
}
