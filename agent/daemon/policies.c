// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/netns.h"
#include "control/compile.h"
#include "control/policy_file.h"
#include "control/policy_model.h"
#include "control/policy_types.h"
#include "daemon/policies.h"
#include "daemon/policy_hits.h"
#include "pins/pins.h"
#include "pins/texts.h"

#define TEXT "policy"
/* What stands before the policy: the stamp of the file, as a comment. */
#define STAMP_FORMAT "# upon %016llx\n"
#define STAMP_LENGTH 24

/* A hash of the text of a policy's file, its stamp. */
static __u64 policy_memory_stamp(const char *text, size_t size)
{
	__u64 hash = 0xcbf29ce484222325ULL; /* FNV-1a */

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (__u64)(unsigned char)text[i]) * 0x100000001b3ULL;
	return hash;
}

/* Keep a policy that began with the file of this stamp. 0 or -errno. */
static int policy_memory_keep(const struct pins *pins, __u64 stamp, const struct policy *policy)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return -ENOMEM;
	fprintf(stream, STAMP_FORMAT, (unsigned long long)stamp);
	policy_write(stream, policy);
	if (fclose(stream))
		return -ENOMEM;
	return texts_put(pins, TEXT, text);
}

/*
 * The policy that was kept. 0; -ENOENT: none; -ESTALE: the file was another one; -errno with
 * error->text.
 */
static int policy_memory_recall(const struct pins *pins, __u64 stamp, struct policy *ret,
				struct policy_error *error)
{
	_cleanup_free_ char *text = NULL;
	char line[STAMP_LENGTH + 1];
	int err = texts_get(pins, TEXT, &text);

	if (err)
		return err == -ENOENT ? err : policy_fail(error, err, "%s", strerror(-err));
	snprintf(line, sizeof(line), STAMP_FORMAT, (unsigned long long)stamp);
	if (strncmp(text, line, STAMP_LENGTH) != 0)
		return -ESTALE;
	return policy_read(text, strlen(text), TEXT, ret, error);
}

/* Forget it. */
static void policy_memory_drop(const struct pins *pins)
{
	texts_drop(pins, TEXT);
}

/* Add the number of a name to a hash, by which changes of any of them are found. */
static __u64 fold(__u64 *named, __u64 number)
{
	*named = (*named ^ number) * 0x100000001b3ULL;
	return number;
}

/* A device of the daemon's own namespace. */
static __u64 device_number(const char *name, void *data)
{
	__u32 ifindex = if_nametoindex(name);
	__u64 cookie;

	return fold(data,
		    !ifindex || netns_cookie(&cookie) ? 0 : policy_device((__u32)cookie, ifindex));
}

static __u64 cgroup_number(const char *path, void *data)
{
	return fold(data, cgroup_id(path));
}

static int compile(const struct policies *policies, const struct policy *policy,
		   const struct policy_names *names, struct policy_image **ret,
		   struct policy_error *error)
{
	__u32 generation;
	int err = policy_maps_next_generation(&policies->maps, &generation);

	if (err)
		return policy_fail(error, err, "policy map: %s", strerror(-err));
	err = policy_compile(policy, names, generation, ret, error);
	if (err)
		return err;
	err = policy_hits_assign(&policies->maps, policy, *ret);
	return err ? policy_fail(error, err, "counters of rules: %s", strerror(-err)) : 0;
}

/* An empty policy needs no image: the programs know the built-in rules as they are usually. */
static int put(const struct policies *policies, const struct policy *policy, __u64 *ret_named,
	       struct policy_error *error)
{
	const struct policy_names names = {device_number, cgroup_number, ret_named};
	_cleanup_free_ struct policy_image *image = NULL;
	int err;

	*ret_named = 0;
	err = policy->count || !policy_builtin_is_usual()
		  ? compile(policies, policy, &names, &image, error)
		  : 0;
	if (err)
		return err;
	err = policy_maps_put(&policies->maps, image);
	if (!err)
		policy_hits_release(&policies->maps, policy);
	return err ? policy_fail(error, err, "policy map: %s", strerror(-err)) : 0;
}

static void take_over(struct policies *policies, struct policy *policy)
{
	policy_clear(&policies->policy);
	policies->policy = *policy;
	*policy = (struct policy){};
}

int policies_apply(struct policies *policies, struct policy *policy, struct policy_error *error)
{
	__u64 named;
	int err;

	pthread_mutex_lock(&policies->lock);
	err = put(policies, policy, &named, error);
	if (!err)
		take_over(policies, policy);
	pthread_mutex_unlock(&policies->lock);
	if (!err)
		policies->named = named;
	return err;
}

/* Rules may name devices and cgroups that do not exist yet; log that. */
static void log_unknown(const struct policy *policy)
{
	for (size_t i = 0; i < policy->count; i++) {
		const struct policy_rule *rule = &policy->rules[i];

		if (rule->device[0] && !if_nametoindex(rule->device))
			log_warning("policy-no-device",
				    "policy rule %u: the device %s does not exist now", rule->prio,
				    rule->device);
		if (rule->cgroup[0] && !cgroup_id(rule->cgroup))
			log_warning("policy-no-cgroup",
				    "policy rule %u: the cgroup %s does not exist now", rule->prio,
				    rule->cgroup);
	}
}

/* The policy of the file, and the stamp of the text that it was read from. */
static int read_file(const struct policies *policies, struct policy *ret, __u64 *ret_stamp)
{
	struct policy_error error = {};
	_cleanup_free_ char *text = NULL;
	size_t size;
	int err = policy_load(policies->file, &text, &size, &error);

	*ret = (struct policy){};
	*ret_stamp = 0;
	if (err == -ENOENT && !policies->file_must_exist)
		return 0;
	if (!err)
		err = policy_read(text, size, policies->file, ret, &error);
	if (err)
		log_error("policy-refused", "policy: %s", error.text);
	else
		*ret_stamp = policy_memory_stamp(text, size);
	return err;
}

/* Put the policy of the file in force, and free it. */
static int apply_file(struct policies *policies, struct policy *policy)
{
	struct policy_error error = {};
	int err = policies_apply(policies, policy, &error);

	if (err) {
		log_error("policy-refused", "policy: %s: %s", policies->file, error.text);
		policy_clear(policy);
		return err;
	}
	if (policies->policy.count)
		log_info("policy-loaded", "policy: %zu rule%s from %s", policies->policy.count,
			 policies->policy.count == 1 ? "" : "s", policies->file);
	log_unknown(&policies->policy);
	return 0;
}

int policies_read(struct policies *policies, const char *file)
{
	*policies = (struct policies){
	    .file = file ? file : POLICIES_FILE,
	    .file_must_exist = file != NULL,
	    .lock = PTHREAD_MUTEX_INITIALIZER,
	};
	return read_file(policies, &policies->policy, &policies->stamp);
}

/* Restore the changes made with ctxprop. Returns whether they are in force now. */
static bool recall(struct policies *policies)
{
	struct policy_error error = {};
	struct policy policy = {};
	int err = policy_memory_recall(policies->pins, policies->stamp, &policy, &error);

	if (!err)
		err = policies_apply(policies, &policy, &error);
	policy_clear(&policy);
	if (!err)
		log_info("policy-restored", "policy: %zu rules, as they were changed with ctxprop",
			 policies->policy.count);
	else if (err == -ESTALE)
		log_warning("policy-file-changed",
			    "policy: %s has changed; changes made with ctxprop are discarded",
			    policies->file);
	else if (err != -ENOENT)
		log_warning("policy-restore-failed",
			    "policy: cannot restore the changes made with ctxprop: %s", error.text);
	return !err;
}

int policies_begin(struct policies *policies, const struct policy_maps *maps,
		   const struct pins *pins)
{
	struct policy policy = policies->policy;

	policies->maps = *maps;
	policies->pins = pins;
	policies->policy = (struct policy){};
	if (recall(policies)) {
		policy_clear(&policy);
		return 0;
	}
	policy_memory_drop(pins);
	return apply_file(policies, &policy);
}

void policies_keep(const struct policies *policies)
{
	int err = policy_memory_keep(policies->pins, policies->stamp, &policies->policy);

	if (err)
		log_warning(
		    "policy-not-saved",
		    "policy: it cannot be saved, and will be lost when this daemon ends: %s",
		    strerror(-err));
}

/* The file holds again. */
static void forget_changes(struct policies *policies, __u64 stamp)
{
	policies->stamp = stamp;
	policy_memory_drop(policies->pins);
	log_info("policy-reloaded", "policy: read again");
}

void policies_reload(struct policies *policies)
{
	struct policy policy;
	__u64 stamp;
	int err = read_file(policies, &policy, &stamp);

	if (!err)
		err = apply_file(policies, &policy);
	if (err)
		log_error("policy-kept", "policy: the previous policy stays in force");
	else
		forget_changes(policies, stamp);
}

/* Does any rule name a device or a cgroup? */
static bool names_anything(const struct policy *policy)
{
	for (size_t i = 0; i < policy->count; i++)
		if (policy->rules[i].device[0] || policy->rules[i].cgroup[0])
			return true;
	return false;
}

static __u64 names_now(const struct policy *policy)
{
	__u64 named = 0;

	/* In the order in which the compiler asks. */
	for (size_t i = 0; i < policy->count; i++)
		if (policy->rules[i].device[0])
			device_number(policy->rules[i].device, &named);
	for (size_t i = 0; i < policy->count; i++)
		if (policy->rules[i].cgroup[0])
			cgroup_number(policy->rules[i].cgroup, &named);
	return named;
}

void policies_refresh(struct policies *policies)
{
	struct policy_error error;
	__u64 named;

	if (!names_anything(&policies->policy) || names_now(&policies->policy) == policies->named)
		return;
	if (put(policies, &policies->policy, &named, &error)) {
		log_warning("policy-update-failed",
			    "policy: cannot adapt to changed devices or cgroups: %s", error.text);
		return;
	}
	policies->named = named;
	log_info("policy-updated", "policy: adapted to changed devices or cgroups");
}

int policies_hits(struct policies *policies, struct policy *ret, struct policy_hits *ret_hits)
{
	int err;

	pthread_mutex_lock(&policies->lock);
	err = policy_copy(&policies->policy, ret);
	if (!err)
		err = policy_hits_read(&policies->maps, ret, ret_hits);
	pthread_mutex_unlock(&policies->lock);
	if (err)
		policy_clear(ret);
	return err;
}

void policies_close(struct policies *policies)
{
	policy_clear(&policies->policy);
}
