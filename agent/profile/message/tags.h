/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules that are applied to a profile when it is read or written, never when it is taken:
 *
 *     match REGEX tag NAME    stacks with such a function get the tag NAME: the first rule that
 * fits drop REGEX              stacks with such a function are left out fold REGEX as NAME such
 * functions that call each other become one, of this name
 *
 * REGEX is an extended regular expression of POSIX, for names of functions; with "file:" before it,
 * for the files of their source or code. Empty lines, and what begins with #, say nothing.
 */
#ifndef CTXPROP_PROFILE_MESSAGE_TAGS_H
#define CTXPROP_PROFILE_MESSAGE_TAGS_H

#include "profile/message/message.h"

#define TAGS_MAX     256 /* rules */
#define TAGS_WHY_MAX 256

struct tags;

/*
 * Read rules. Returns 0, which the caller frees; -ENOMEM; or -EINVAL, with the line and the reason
 * in `ret_why`, which has room for TAGS_WHY_MAX.
 */
int tags_parse(const char *text, size_t size, struct tags **ret, char *ret_why);

/* The same of a file; -errno, if it cannot be read, without a reason. */
int tags_read(const char *file, struct tags **ret, char *ret_why);
void tags_free(struct tags *tags);

/*
 * Apply them: tags are labels "tag" of samples. Of rules that are both to drop and to match a
 * stack, or to fold its functions, dropping comes first, then matching. 0 or -ENOMEM.
 */
int tags_apply(const struct tags *tags, struct message *message);

#endif
