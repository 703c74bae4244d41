// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "trace/kubernetes.h"

#define UUID_LENGTH  36
#define PLAIN_LENGTH 32

static bool is_hex(char c)
{
	return isdigit((unsigned char)c) || (c >= 'a' && c <= 'f');
}

static bool is_dash_place(size_t i)
{
	return i == 8 || i == 13 || i == 18 || i == 23;
}

/* Slices of systemd have "_" for the dashes. */
static bool is_uuid(const char *text)
{
	for (size_t i = 0; i < UUID_LENGTH; i++)
		if (is_dash_place(i) ? text[i] != '-' && text[i] != '_' : !is_hex(text[i]))
			return false;
	return true;
}

static bool is_plain(const char *text)
{
	for (size_t i = 0; i < PLAIN_LENGTH; i++)
		if (!is_hex(text[i]))
			return false;
	return true;
}

/* What a name of a cgroup can go on with behind the UID. */
static bool ends(const char *text)
{
	return !*text || *text == '/' || *text == '\n' || !strncmp(text, ".slice", 6);
}

static int read_uid(const char *text, char ret_uid[KUBERNETES_UID_MAX])
{
	size_t length = 0;

	if (is_uuid(text) && ends(text + UUID_LENGTH))
		length = UUID_LENGTH;
	else if (is_plain(text) && ends(text + PLAIN_LENGTH))
		length = PLAIN_LENGTH;
	if (!length)
		return -ENOENT;
	for (size_t i = 0; i < length; i++) {
		ret_uid[i] = text[i];
		if (ret_uid[i] == '_')
			ret_uid[i] = '-';
	}
	ret_uid[length] = '\0';
	return 0;
}

int kubernetes_uid_of_cgroup(const char *text, char ret_uid[KUBERNETES_UID_MAX])
{
	static const char root[] = "kubepods", pod[] = "pod";
	const char *at = strstr(text, root);

	while (at && (at = strstr(at + 1, pod))) {
		bool begins = at[-1] == '/' || at[-1] == '-';

		if (begins && !read_uid(at + sizeof(pod) - 1, ret_uid))
			return 0;
	}
	return -ENOENT;
}

/* The value of a variable; NULL: it is not there, or empty. */
static const char *variable(const char *environment, size_t size, const char *name)
{
	const char *end = environment + size;
	size_t length = strlen(name);

	for (const char *at = environment; at < end; at += strnlen(at, (size_t)(end - at)) + 1)
		if (!strncmp(at, name, length) && at[length] == '=')
			return at[length + 1] ? at + length + 1 : NULL;
	return NULL;
}

/* Is it the name of an object (RFC 1123)? Variables of these names may also have other contents. */
static bool is_name(const char *text)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-.");

	return length && !text[length] && length < 254 && isalnum((unsigned char)*text);
}

static void add(char attributes[ATTRIBUTES_MAX], const char *key, const char *value)
{
	attributes_add(attributes, key, strlen(key), value, strlen(value));
}

#define NAMES_MAX 5

void kubernetes_add(char attributes[ATTRIBUTES_MAX], const char *uid, const char *environment,
		    size_t size, const char *host)
{
	static const struct {
		const char *key, *names[NAMES_MAX];
	} known[] = {
	    {"k8s.pod.name", {"POD_NAME", "K8S_POD_NAME", "MY_POD_NAME", "KUBERNETES_POD_NAME"}},
	    {"k8s.namespace.name",
	     {"POD_NAMESPACE", "K8S_POD_NAMESPACE", "MY_POD_NAMESPACE", "K8S_NAMESPACE",
	      "KUBERNETES_NAMESPACE"}},
	    {"k8s.node.name", {"NODE_NAME", "K8S_NODE_NAME", "MY_NODE_NAME"}},
	};
	const char *value;

	add(attributes, "k8s.pod.uid", uid);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		for (size_t j = 0; j < NAMES_MAX && known[i].names[j]; j++) {
			value = variable(environment, size, known[i].names[j]);
			if (value && is_name(value))
				add(attributes, known[i].key, value);
		}
	value = variable(environment, size, "HOSTNAME");
	if (value && is_name(value) && strcmp(value, host) != 0)
		add(attributes, "k8s.pod.name", value);
}
