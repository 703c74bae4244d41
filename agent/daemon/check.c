// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <curl/curl.h>

#include "base/cleanup.h"
#include "control/compile.h"
#include "control/policy_file.h"
#include "control/policy_model.h"
#include "daemon/check.h"
#include "daemon/policies.h"
#include "otlp/headers.h"
#include "trace/service_rules.h"

#define CERTIFICATE "-----BEGIN CERTIFICATE-----"

__attribute__((format(printf, 1, 2))) static unsigned int wrong(const char *format, ...)
{
	va_list args;

	fputs("ctxpropd: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return 1;
}

/* Devices and cgroups may come later: here none has to be there. */
static __u64 unknown_number(const char *name, void *data)
{
	(void)name;
	(void)data;
	return 0;
}

/* As policies_read() does and policies_begin() puts in force. */
static int read_policy(const char *file, struct policy *ret, struct policy_error *error)
{
	const struct policy_names names = {unknown_number, unknown_number, NULL};
	_cleanup_free_ struct policy_image *image = NULL;
	struct policy_error too_much = {};
	_cleanup_free_ char *text = NULL;
	size_t size;
	int err = policy_load(file, &text, &size, error);

	if (!err)
		err = policy_read(text, size, file, ret, error);
	if (err)
		return err;
	err = policy_compile(ret, &names, 1, &image, &too_much);
	return err ? policy_fail(error, err, "%s: %s", file, too_much.text) : 0;
}

static unsigned int check_policy(const char *named)
{
	const char *file = named ? named : POLICIES_FILE;
	struct policy policy = {};
	struct policy_error error;
	int err = read_policy(file, &policy, &error);
	size_t count = policy.count;

	policy_clear(&policy);
	if (err == -ENOENT && !named) {
		printf("%s: is not there, only the built-in rules hold\n", file);
		return 0;
	}
	if (err)
		return wrong("%s", error.text);
	printf("%s: %zu rule%s\n", file, count, count == 1 ? "" : "s");
	return 0;
}

static unsigned int check_services(const char *file)
{
	_cleanup_free_ char *text = NULL;
	struct service_rules *rules = NULL;
	struct policy_error error;
	size_t size;
	int err;

	if (!file)
		return 0;
	err = policy_load(file, &text, &size, &error);
	if (!err)
		err = service_rules_read(text, size, file, &rules, error.text, sizeof(error.text));
	service_rules_free(rules);
	if (err)
		return wrong("%s", error.text);
	printf("%s: rules for the names of services\n", file);
	return 0;
}

/* Their contents are secrets: only the file and the line are named. */
static unsigned int check_headers(const char *file)
{
	struct curl_slist *list = NULL;
	char why[128];
	int err;

	if (!file)
		return 0;
	err = headers_read(file, &list, why, sizeof(why));
	curl_slist_free_all(list);
	if (err)
		return wrong("%s: %s", file, why);
	printf("%s: header fields\n", file);
	return 0;
}

static unsigned int check_token(const char *file)
{
	if (!file)
		return 0;
	if (access(file, R_OK))
		return wrong("%s: %s", file, strerror(errno));
	printf("%s: a token\n", file);
	return 0;
}

static unsigned int check_certificates(const char *file)
{
	_cleanup_free_ char *text = NULL;
	struct policy_error error;
	size_t size;

	if (!file)
		return 0;
	if (policy_load(file, &text, &size, &error))
		return wrong("%s", error.text);
	if (!strstr(text, CERTIFICATE))
		return wrong("%s: expected certificates in PEM (" CERTIFICATE ")", file);
	printf("%s: certificates\n", file);
	return 0;
}

unsigned int check_run(const struct options *options)
{
	if (options->config && !options->wrong_lines)
		printf("%s: options\n", options->config);
	return options->wrong_lines + check_policy(options->policy) +
	       check_services(options->services) + check_headers(options->otlp_headers) +
	       check_certificates(options->otlp_ca) + check_token(options->kubelet_token) +
	       check_certificates(options->kubelet_ca);
}
