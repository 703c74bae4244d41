/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules as text, the words that the command, the policy file, `policy show` and `policy save`
 * share:
 *
 *   [prio N] [dir out|in|forward] [dev NAME] [from END] [to END] [port PORTS] [cgroup PATH]
 *   [host PATTERN] action ACTION [sample RATIO] [root yes|no] [tracestate yes|no]
 *
 * PORTS is a port, a range P-P, or some of these behind each other: 80,443,8000-8999.
 * END is any, PREFIX, a set's name, or one of these behind a "!".
 */
#ifndef CTXPROP_POLICY_TEXT_H
#define CTXPROP_POLICY_TEXT_H

#include "control/policy_types.h"

#define POLICY_RULE_TEXT_MAX 1024

/* The priority of a rule whose text has none. */
#define POLICY_PRIO_UNSAID 0xffffffff

/* Read a rule. 0, or -EINVAL: error->text says what is wrong with word number error->word. */
int rule_parse(const char *const *words, size_t count, struct policy_rule *ret,
	       struct policy_error *error);

/* Write a rule, but for its priority, into POLICY_RULE_TEXT_MAX bytes; returns them. */
const char *rule_text(char *buffer, const struct policy_rule *rule);

/* Does a rule that somebody sent give the same rule when it is written as text and read again? */
bool rule_is_text(const struct policy_rule *rule);

/* Read the networks of a set. As rule_parse(), or -ENOMEM; the caller frees ret->prefixes. */
int set_parse(const char *name, const char *const *words, size_t count, struct policy_set *ret,
	      struct policy_error *error);

/* The words for directions and actions, and one end of a rule ("!cluster"; "any"). */
const char *dir_text(enum policy_dir dir);
const char *action_text(enum policy_action action);
const char *end_text(char *buffer, const struct policy_end *end);

/* Millionths out of "0.25". 0 or -EINVAL: what was wanted is SAMPLE_WANTED. */
#define SAMPLE_WANTED "a ratio from 0 to 1 with at most six decimals, such as 0.25"
int sample_parse(const char *text, __u32 *ret);

/* "0.25" out of millionths, into 16 bytes; returns them. */
const char *sample_text(char *buffer, __u32 sample);

#endif
