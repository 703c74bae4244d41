// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <jansson.h>

#include "web/profile_answer.h"

void profile_answer_refuse(struct profile_answer *answer, unsigned int status, const char *format,
			   ...)
{
	va_list arguments;

	va_start(arguments, format);
	answer->size = (size_t)vsnprintf(answer->text, sizeof(answer->text), format, arguments);
	va_end(arguments);
	answer->status = status;
}

static void give(const struct profile_question *question, const struct windows_said *windows,
		 struct message *message, struct profile_answer *ret)
{
	if (question->is_picture)
		profile_answer_picture(question, windows, message, ret);
	else
		profile_answer_table(windows, message, ret);
}

static void say_none(const struct profile_question *question, const struct windows_said *windows,
		     struct profile_answer *ret)
{
	if (question->is_picture)
		profile_answer_refuse(ret, 404, "there is no profile of that time");
	else
		profile_answer_table(windows, NULL, ret);
}

void profile_answer_open(const struct profile_question *question, struct windows_opened *ret)
{
	json_object_seed(0); /* reads /dev/urandom, the first time */
	windows_open(question->folder, question->from_s, question->to_s, ret);
}

void profile_answer(const struct profile_question *question, const struct windows_opened *opened,
		    struct profile_answer *ret)
{
	char why[MESSAGE_WHY_MAX] = "";
	struct windows_said windows = {};
	struct message message = {};
	int err = windows_read_opened(opened, &message, &windows, why);

	if (err == -ENOENT) {
		say_none(question, &windows, ret);
	} else if (err == -ENOMEM || err == -EFBIG) {
		profile_answer_refuse(ret, 503, "that is too much; ask for less");
	} else if (err) {
		profile_answer_refuse(ret, 500, "the profile cannot be read: %s",
				      *why ? why : strerror(-err));
	} else {
		give(question, &windows, &message, ret);
		message_free(&message);
	}
}
