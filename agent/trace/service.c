// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/foreign.h"
#include "base/proc.h"
#include "base/text.h"
#include "trace/kubernetes.h"
#include "trace/service.h"

#define TEXT_MAX         16384
#define STATUS_MAX       4096
#define CONTAINER_ID     64
#define SERVICE_NAME_KEY "service.name"

/* A file of /proc, as far as it fits. Returns its bytes; 0: it cannot be read. */
static size_t read_proc(struct proc_reader *reader, const char *name, char *buffer, size_t size)
{
	const long got = proc_reader_file(reader, name, buffer, size - 1);
	const size_t used = got > 0 ? (size_t)got : 0;

	buffer[used] = '\0';
	return used;
}

/* The next of the texts behind each other; NULL: there is none. */
static const char *next_text(const char *at, const char *end)
{
	at += strnlen(at, (size_t)(end - at)) + 1;
	return at < end ? at : NULL;
}

/* The value of service.name among key=value pairs with commas between them. */
static bool find_attribute(const char *pairs, char ret_name[SERVICE_NAME_MAX])
{
	static const char key[] = "service.name=";

	for (const char *at = pairs; at; at = strchr(at, ',')) {
		at += *at == ',';
		at += strspn(at, " ");
		if (strncmp(at, key, sizeof(key) - 1) != 0)
			continue;
		at += sizeof(key) - 1;
		text_copy(ret_name, SERVICE_NAME_MAX, at);
		ret_name[strcspn(ret_name, ",")] = '\0';
		return *ret_name;
	}
	return false;
}

int service_name_of_environment(const char *environment, size_t size,
				char ret_name[SERVICE_NAME_MAX])
{
	static const char name[] = "OTEL_SERVICE_NAME=", attributes[] = "OTEL_RESOURCE_ATTRIBUTES=";
	const char *end = environment + size;
	bool found = false;

	for (const char *at = size ? environment : NULL; at; at = next_text(at, end)) {
		if (!strncmp(at, name, sizeof(name) - 1) && at[sizeof(name) - 1]) {
			text_copy(ret_name, SERVICE_NAME_MAX, at + sizeof(name) - 1);
			return 0;
		}
		if (!found && !strncmp(at, attributes, sizeof(attributes) - 1))
			found = find_attribute(at + sizeof(attributes) - 1, ret_name);
	}
	return found ? 0 : -ENOENT;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Does the program run another one, that its arguments name? With or without a version. */
static bool is_interpreter(const char *program)
{
	static const char *const names[] = {"python", "node", "nodejs", "ruby", "perl",
					    "php",    "java", "sh",     "bash", "mono"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strlen(names[i]);

		if (!strncmp(program, names[i], length) &&
		    strspn(program + length, "0123456789.") == strlen(program + length))
			return true;
	}
	return false;
}

/* The argument that names what an interpreter runs; NULL: none does. */
static const char *find_script(const char *at, const char *end)
{
	const char *found = NULL;

	while (at && !found) {
		/* python -m MODULE, java -jar FILE; of java the class is the first without a dash.
		 */
		bool named = !strcmp(at, "-m") || !strcmp(at, "-jar");
		bool skips = !strcmp(at, "-cp") || !strcmp(at, "-classpath") || !strcmp(at, "-c") ||
			     !strcmp(at, "-e");

		if (!named && !skips && *at != '-' && *at)
			found = at;
		at = next_text(at, end);
		if (skips && at)
			at = next_text(at, end);
	}
	return found;
}

/* Without the ending of a file name: .py, .js, .jar. */
static void drop_ending(char *name)
{
	char *dot = strrchr(name, '.');

	if (dot && dot != name && strlen(dot) <= 4)
		*dot = '\0';
}

/* A process title may have more than a name: "nginx: worker process". */
static void drop_words(char *name)
{
	name[strcspn(name, ": ")] = '\0';
}

int service_name_of_command(const char *command, size_t size, char ret_name[SERVICE_NAME_MAX])
{
	const char *end = command + size, *script;

	if (!size || !*command)
		return -ENOENT;
	text_copy(ret_name, SERVICE_NAME_MAX, base_name(command));
	drop_words(ret_name);
	script = is_interpreter(ret_name) ? find_script(next_text(command, end), end) : NULL;
	if (script) {
		text_copy(ret_name, SERVICE_NAME_MAX, base_name(script));
		drop_ending(ret_name);
	}
	return *ret_name ? 0 : -ENOENT;
}

int service_container_of_cgroup(const char *text, char ret_id[SERVICE_CONTAINER_MAX])
{
	int err = -ENOENT;
	size_t run = 0;

	for (const char *at = text;; at++) {
		bool hex = isdigit((unsigned char)*at) || (*at >= 'a' && *at <= 'f');

		if (!hex && run == CONTAINER_ID) {
			memcpy(ret_id, at - CONTAINER_ID, CONTAINER_ID);
			ret_id[CONTAINER_ID] = '\0';
			err = 0;
		}
		run = hex ? run + 1 : 0;
		if (!*at)
			return err;
	}
}

bool service_is_same(const struct service *a, const struct service *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->container, b->container) &&
	       !strcmp(a->owner, b->owner) && !strcmp(a->attributes, b->attributes);
}

/* The path in the text of /proc/PID/cgroup: that of version 2, or the first one. */
static const char *path_of_cgroup(char *text)
{
	char *line = strstr(text, "0::"), *path;

	line = line && (line == text || line[-1] == '\n') ? line : text;
	line[strcspn(line, "\n")] = '\0';
	path = strchr(line, '/');
	return path ? path : line;
}

/* What is read of a process. */
struct reading {
	char environment[TEXT_MAX], command[TEXT_MAX], args[TEXT_MAX], cgroup[TEXT_MAX];
	char exe[PATH_MAX], comm[PROC_COMM_MAX], pod[KUBERNETES_UID_MAX], status[STATUS_MAX];
	size_t environment_size, command_size;
};

static void read_exe(struct reading *reading, __u32 tgid)
{
	char path[32];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%u/exe", tgid);
	length = readlink(path, reading->exe, sizeof(reading->exe) - 1);
	reading->exe[length > 0 ? length : 0] = '\0';
}

/* The words of a command line with blanks between them. */
static void join_words(struct reading *reading)
{
	size_t size = reading->command_size;

	memcpy(reading->args, reading->command, size);
	while (size && !reading->args[size - 1])
		size--;
	for (size_t i = 0; i < size; i++)
		if (!reading->args[i])
			reading->args[i] = ' ';
	reading->args[size] = '\0';
}

/* The number behind these words, and in front of `end`. NULL: that is not what the text begins
 * with. */
static const char *number_behind(const char *text, const char *words, const char *end)
{
	const size_t length = strlen(words);
	const char *number = text + length;

	if (strncmp(text, words, length) != 0)
		return NULL;
	return !strncmp(number + strspn(number, "0123456789"), end, strlen(end)) ? number : NULL;
}

/*
 * The user whose session or whose service manager's it is, for his containers are his, too; or that
 * of the process. NULL: not known.
 */
static const char *user_of(const struct service_place *place)
{
	const char *line = strstr(place->status, "\nUid:");
	const char *user = number_behind(place->cgroup, "/user.slice/user-", ".slice/");

	if (user || *place->container || !line)
		return user;
	return number_behind(line, "\nUid:\t", "\t");
}

void service_owner(const struct service_place *place, char ret_owner[SERVICE_OWNER_MAX])
{
	const char *user = user_of(place);

	if (user)
		snprintf(ret_owner, SERVICE_OWNER_MAX, "uid %.*s", (int)strspn(user, "0123456789"),
			 user);
	else
		text_copy(ret_owner, SERVICE_OWNER_MAX, place->container);
}

static void find_owner(struct reading *reading, struct service *service)
{
	const struct service_place place = {.cgroup = path_of_cgroup(reading->cgroup),
					    .container = service->container,
					    .status = reading->status};

	service_owner(&place, service->owner);
}

static void read_cgroup(struct reading *reading, struct service *service)
{
	service_container_of_cgroup(reading->cgroup, service->container);
	kubernetes_uid_of_cgroup(reading->cgroup, reading->pod);
}

/* First what the kernel knows itself: reading the rest may fail. */
static void read_process(struct reading *reading, __u32 tgid, struct proc_reader *reader,
			 struct service *service)
{
	proc_reader_begin(reader, tgid);
	read_proc(reader, "cgroup", reading->cgroup, sizeof(reading->cgroup));
	read_proc(reader, "status", reading->status, sizeof(reading->status));
	reading->environment_size =
	    read_proc(reader, "environ", reading->environment, sizeof(reading->environment));
	reading->command_size =
	    read_proc(reader, "cmdline", reading->command, sizeof(reading->command));
	read_exe(reading, tgid);
	proc_comm(reading->comm, tgid, tgid);
	join_words(reading);
	reading->pod[0] = '\0';
	if (*reading->cgroup)
		read_cgroup(reading, service);
}

/* Fill in what was seen of a process that is gone. */
static void take_seen(struct reading *reading, const struct record_process *seen,
		      struct service *service)
{
	char path[TEXT_MAX - sizeof("0::")];

	if (!*reading->comm)
		foreign_copy_bytes(reading->comm, sizeof(reading->comm), (const char *)seen->comm,
				   strnlen((const char *)seen->comm, sizeof(seen->comm)));
	if (!seen->cgroup || cgroup_path(seen->cgroup, path, sizeof(path)))
		return;
	snprintf(reading->cgroup, sizeof(reading->cgroup), "0::%s", path);
	read_cgroup(reading, service);
}

static void apply_rules(struct reading *reading, const struct service_rules *rules,
			const struct service *service, char attributes[ATTRIBUTES_MAX])
{
	const struct service_facts facts = {.exe = reading->exe,
					    .comm = reading->comm,
					    .args = reading->args,
					    .cgroup = path_of_cgroup(reading->cgroup),
					    .container = service->container,
					    .pod = reading->pod,
					    .environment = reading->environment,
					    .environment_size = reading->environment_size};

	service_rules_apply(rules, &facts, attributes);
}

static void add_environment(const struct reading *reading, char attributes[ATTRIBUTES_MAX])
{
	static const char name[] = "OTEL_RESOURCE_ATTRIBUTES=";
	const char *end = reading->environment + reading->environment_size;

	for (const char *at = reading->environment_size ? reading->environment : NULL; at;
	     at = next_text(at, end))
		if (!strncmp(at, name, sizeof(name) - 1))
			attributes_add_pairs(attributes, at + sizeof(name) - 1);
}

/* What the kubelet says is certain, what the environment may say of the rest is not. */
static void add_pod(const struct reading *reading, struct service_lists *lists,
		    const struct service *service, char attributes[ATTRIBUTES_MAX])
{
	struct utsname host = {};

	uname(&host);
	if (*reading->pod && lists->pods &&
	    !pods_add(lists->pods, reading->pod, service->container, attributes))
		lists->misses_pod = true;
	if (*reading->pod)
		kubernetes_add(attributes, reading->pod, reading->environment,
			       reading->environment_size, host.nodename);
}

/* The name by rules, by the process's environment, by its command or its thread. */
static void name_it(const struct reading *reading, const char *ruled, struct service *service)
{
	char name[SERVICE_NAME_MAX] = "";

	if (attributes_get(ruled, SERVICE_NAME_KEY, name, sizeof(name)) &&
	    service_name_of_environment(reading->environment, reading->environment_size, name) &&
	    service_name_of_command(reading->command, reading->command_size, name))
		foreign_copy(name, sizeof(name), reading->comm);
	foreign_copy(service->name, sizeof(service->name), name);
}

static void copy_without_name(char to[ATTRIBUTES_MAX], const char *from)
{
	struct attribute one;

	while (attributes_next(&from, &one))
		if (one.key_length != sizeof(SERVICE_NAME_KEY) - 1 ||
		    memcmp(one.key, SERVICE_NAME_KEY, one.key_length) != 0)
			attributes_add(to, one.key, one.key_length, one.value, one.value_length);
}

int service_look(__u32 tgid, struct proc_reader *reader, const struct record_process *seen,
		 struct service_lists *lists, struct service *ret_service)
{
	char attributes[ATTRIBUTES_MAX] = "";
	struct reading reading;

	*ret_service = (struct service){};
	read_process(&reading, tgid, reader, ret_service);
	if (!reading.command_size && seen)
		take_seen(&reading, seen, ret_service);
	find_owner(&reading, ret_service);
	/* Rules are not applied to a process of which nothing is known. */
	if (reading.command_size || *reading.comm)
		apply_rules(&reading, lists->rules, ret_service, attributes);
	name_it(&reading, attributes, ret_service);
	add_environment(&reading, attributes);
	add_pod(&reading, lists, ret_service, attributes);
	copy_without_name(ret_service->attributes, attributes);
	return reading.command_size ? 0 : -ESRCH;
}

/* Processes that are cached, a power of two; others are only read again. */
#define SERVICES   1024
#define TRUSTED_NS (10 * NS_PER_SECOND) /* after that its number may belong to another process */

struct known {
	__u32 tgid; /* 0: nothing is known */
	__u64 looked_ns;
	struct service service;
};

struct services {
	pthread_mutex_t mutex; /* of the lists */
	struct service_lists lists;
	struct proc_reader *reader;
	__u64 listed_ns; /* what was looked at before that is looked at again */
	struct service nothing;
	struct known known[SERVICES];
};

struct services *services_new(void)
{
	struct services *services = calloc(1, sizeof(*services));

	if (!services)
		return NULL;
	services->reader = proc_reader_new();
	if (!services->reader) {
		free(services);
		return NULL;
	}
	pthread_mutex_init(&services->mutex, NULL);
	return services;
}

void services_free(struct services *services)
{
	if (!services)
		return;
	service_rules_free(services->lists.rules);
	pods_free(services->lists.pods);
	proc_reader_free(services->reader);
	pthread_mutex_destroy(&services->mutex);
	free(services);
}

void services_set_rules(struct services *services, struct service_rules *rules)
{
	struct service_rules *before;

	pthread_mutex_lock(&services->mutex);
	before = services->lists.rules;
	services->lists.rules = rules;
	services->listed_ns = clock_now_ns();
	pthread_mutex_unlock(&services->mutex);
	service_rules_free(before);
}

void services_set_pods(struct services *services, struct pods *pods)
{
	struct pods *before;

	pthread_mutex_lock(&services->mutex);
	before = services->lists.pods;
	services->lists.pods = pods;
	services->listed_ns = clock_now_ns();
	pthread_mutex_unlock(&services->mutex);
	pods_free(before);
}

bool services_miss_pod(struct services *services)
{
	bool misses;

	pthread_mutex_lock(&services->mutex);
	misses = services->lists.misses_pod;
	services->lists.misses_pod = false;
	pthread_mutex_unlock(&services->mutex);
	return misses;
}

/* Keep what is known when the process is gone: its last requests are reported after its end. */
static void look(struct services *services, struct known *known, __u32 tgid,
		 const struct record_process *seen, __u64 now_ns)
{
	struct service service;
	const bool is_gone = service_look(tgid, services->reader, seen, &services->lists, &service);

	if (known->tgid != tgid || !is_gone || !known->service.name[0])
		known->service = service;
	known->tgid = tgid;
	known->looked_ns = now_ns;
}

const struct service *services_find(struct services *services, __u32 tgid,
				    const struct record_process *seen)
{
	struct known *known = &services->known[tgid % SERVICES];
	__u64 now_ns = clock_now_ns();

	if (!tgid)
		return &services->nothing;
	pthread_mutex_lock(&services->mutex);
	if (known->tgid != tgid || now_ns - known->looked_ns > TRUSTED_NS ||
	    known->looked_ns < services->listed_ns)
		look(services, known, tgid, seen, now_ns);
	pthread_mutex_unlock(&services->mutex);
	return &known->service;
}
