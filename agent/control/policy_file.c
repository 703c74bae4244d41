// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "control/policy_file.h"
#include "control/policy_model.h"
#include "control/policy_sets.h"
#include "control/prefix.h"
#include "control/policy_text.h"

#define WORDS_MAX       (POLICY_PREFIXES_MAX + 8)
#define PREFIXES_A_LINE 8

/* Where a word stands, for errors. */
struct place {
	unsigned int line, column;
};

/* The words of one line, and what they are to change. */
struct reading {
	const char *name;
	struct policy *policy;
	struct policy_error *error;
	const char *word[WORDS_MAX];
	struct place place[WORDS_MAX];
	size_t count;
	bool is_policy; /* something was read that only a policy has */
	struct place here;
	char *next;  /* text that was not read yet; NULL: no more */
	char text[]; /* a copy of all of it, that is cut into words */
};

static bool says(const struct reading *reading, size_t word, const char *text)
{
	return word < reading->count && !strcmp(reading->word[word], text);
}

/* May a word be quoted in an error? Not if the file may not be a policy: it could be a secret. */
static bool may_quote(const struct reading *reading, size_t word)
{
	return reading->is_policy ||
	       (!word && (says(reading, 0, "policy") || says(reading, 0, "set")));
}

/* Put the place before the text of an error. `word` counts within the line. */
static int locate(const struct reading *reading, size_t word, int err)
{
	struct policy_error *error = reading->error, inner = *error;
	const struct place *place = &reading->place[word];

	if (!may_quote(reading, word))
		return policy_fail(error, err, "%.80s:%u:%u: %s", reading->name, place->line,
				   place->column, inner.text);
	return policy_fail(error, err, "%.80s:%u:%u: '%.60s': %s", reading->name, place->line,
			   place->column, reading->word[word], inner.text);
}

static int expect(struct reading *reading, size_t word, const char *wanted)
{
	if (word < reading->count) {
		policy_fail(reading->error, -EINVAL, "expected %s", wanted);
		return locate(reading, word, -EINVAL);
	}
	policy_fail(reading->error, -EINVAL, "%s is missing behind it", wanted);
	return locate(reading, reading->count - 1, -EINVAL);
}

static int read_rule(struct reading *reading)
{
	struct policy_rule rule;
	int err = rule_parse(reading->word + 2, reading->count - 2, &rule, reading->error);

	if (err)
		return locate(reading, 2 + reading->error->word, err);
	if (rule.prio == POLICY_PRIO_UNSAID)
		rule.prio = policy_next_prio(reading->policy);
	err = policy_put_rule(reading->policy, &rule, POLICY_PUT_NEW, reading->error);
	return err ? locate(reading, 1, err) : 0;
}

static int read_set(struct reading *reading)
{
	struct policy_set set;
	int err = set_parse(reading->word[1], reading->word + 3, reading->count - 3, &set,
			    reading->error);

	if (err)
		err = locate(reading, set.name[0] ? 3 + reading->error->word : 1, err);
	else if ((err = policy_put_set(reading->policy, &set, false, reading->error)))
		err = locate(reading, 1, err);
	free(set.prefixes);
	return err;
}

static int read_line(struct reading *reading)
{
	if (!reading->count)
		return 0;
	if (says(reading, 0, "policy")) {
		if (!says(reading, 1, "add"))
			return expect(reading, 1, "'add'");
		reading->is_policy = true;
		if (reading->count == 2)
			return expect(reading, 2, "'action ACTION'");
		return read_rule(reading);
	}
	if (says(reading, 0, "set")) {
		if (reading->count < 2)
			return expect(reading, 1, "the name of a set");
		if (!says(reading, 2, "add"))
			return expect(reading, 2, "'add'");
		reading->is_policy = true;
		return read_set(reading);
	}
	return expect(reading, 0, "'policy add' or 'set NAME add'");
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Skip what stands between words. Returns 0 at the end of the line. */
static int skip_blanks(struct reading *reading)
{
	char *c = reading->next;

	for (;; c++, reading->here.column++) {
		if (c[0] == '\\' && c[1] == '\n') {
			c++;
			reading->here.line++;
			reading->here.column = 0;
		} else if (!is_blank(*c)) {
			break;
		}
	}
	if (*c == '#')
		c += strcspn(c, "\n");
	reading->next = c;
	return *c && *c != '\n';
}

/* Cut the next line into words. */
static int split_line(struct reading *reading)
{
	reading->count = 0;
	reading->here.line++;
	reading->here.column = 1;
	while (skip_blanks(reading)) {
		size_t length = strcspn(reading->next, " \t\r\n");
		char after = reading->next[length];

		if (reading->count == WORDS_MAX)
			return policy_fail(reading->error, -E2BIG, "%s:%u: more than %d words",
					   reading->name, reading->here.line, WORDS_MAX);
		reading->word[reading->count] = reading->next;
		reading->place[reading->count++] = reading->here;
		reading->here.column += (unsigned int)length;
		reading->next += length;
		if (after == '\n' || !after)
			break;
		*reading->next++ = '\0';
		reading->here.column++;
	}
	if (*reading->next == '\n')
		*reading->next++ = '\0';
	else
		reading->next = NULL;
	return 0;
}

static int read_lines(struct reading *reading)
{
	int err = 0;

	while (!err && reading->next) {
		err = split_line(reading);
		if (!err)
			err = read_line(reading);
	}
	return err;
}

int policy_read(const char *text, size_t size, const char *name, struct policy *ret,
		struct policy_error *error)
{
	struct reading *reading;
	int err;

	*ret = (struct policy){};
	if (size > POLICY_FILE_SIZE_MAX)
		return policy_fail(error, -EFBIG, "%s: larger than %lu bytes", name,
				   POLICY_FILE_SIZE_MAX);
	if (memchr(text, '\0', size))
		return policy_fail(error, -EINVAL, "%s: not a text", name);
	reading = calloc(1, sizeof(*reading) + size + 1);
	if (!reading)
		return policy_fail(error, -ENOMEM, "out of memory");
	memcpy(reading->text, text, size);
	reading->name = name;
	reading->policy = ret;
	reading->error = error;
	reading->next = reading->text;
	err = read_lines(reading);
	if (err)
		policy_clear(ret);
	free(reading);
	return err;
}

int policy_read_stream(FILE *stream, const char *name, struct policy *ret,
		       struct policy_error *error)
{
	/* One byte more than allowed, to see that there is more, and one to end the text. */
	_cleanup_free_ char *text = malloc(POLICY_FILE_SIZE_MAX + 2);
	size_t size;

	*ret = (struct policy){};
	if (!text)
		return policy_fail(error, -ENOMEM, "out of memory");
	size = fread(text, 1, POLICY_FILE_SIZE_MAX + 1, stream);
	if (ferror(stream))
		return policy_fail(error, -EIO, "%s: cannot be read", name);
	return policy_read(text, size, name, ret, error);
}

/* What is open is read whole. 0 or -errno. */
static int load(int fd, const char *path, char **ret_text, size_t *ret_size,
		struct policy_error *error)
{
	/* One byte more than allowed, to see that there is more, and one to end the text. */
	_cleanup_free_ char *text = malloc(POLICY_FILE_SIZE_MAX + 2);
	size_t size = 0;
	ssize_t part = 1;

	if (!text)
		return policy_fail(error, -ENOMEM, "out of memory");
	while (part > 0 && size <= POLICY_FILE_SIZE_MAX) {
		part = read(fd, text + size, POLICY_FILE_SIZE_MAX + 1 - size);
		size += part > 0 ? (size_t)part : 0;
	}
	if (part < 0)
		return policy_fail(error, -errno, "%s: %s", path, strerror(errno));
	text[size] = '\0';
	*ret_text = text;
	*ret_size = size;
	text = NULL;
	return 0;
}

int policy_load(const char *path, char **ret_text, size_t *ret_size, struct policy_error *error)
{
	/* So that a pipe without a writer does not block. */
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat file;

	if (fd < 0 || fstat(fd, &file))
		return policy_fail(error, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(file.st_mode))
		return policy_fail(error, -EINVAL, "%s: not a regular file", path);
	if (file.st_size > (off_t)POLICY_FILE_SIZE_MAX)
		return policy_fail(error, -EFBIG, "%s: larger than %lu bytes", path,
				   POLICY_FILE_SIZE_MAX);
	return load(fd, path, ret_text, ret_size, error);
}

int policy_read_file(const char *path, struct policy *ret, struct policy_error *error)
{
	FILE *stream = fopen(path, "re");
	int err = errno;

	*ret = (struct policy){};
	if (!stream)
		return policy_fail(error, -err, "%s: %s", path, strerror(err));
	err = policy_read_stream(stream, path, ret, error);
	fclose(stream);
	return err;
}

static void write_set(FILE *stream, const struct policy_set *set)
{
	char text[POLICY_PREFIX_TEXT_MAX];

	fprintf(stream, "set %s add", set->name);
	for (size_t i = 0; i < set->count; i++) {
		if (i && i % PREFIXES_A_LINE == 0)
			fprintf(stream, "\nset %s add", set->name);
		fprintf(stream, " %s", prefix_text(text, &set->prefixes[i]));
	}
	fputc('\n', stream);
}

void policy_write(FILE *stream, const struct policy *policy)
{
	char text[POLICY_RULE_TEXT_MAX];

	for (size_t i = 0; i < policy->set_count; i++)
		write_set(stream, &policy->sets[i]);
	for (size_t i = 0; i < policy->count; i++)
		fprintf(stream, "policy add prio %u %s\n", policy->rules[i].prio,
			rule_text(text, &policy->rules[i]));
}
