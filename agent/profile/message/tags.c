// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <regex.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/message/pprof_types.h"
#include "profile/message/tags.h"

enum tag_verb { TAG_MATCH, TAG_DROP, TAG_FOLD };

struct tag_rule {
	enum tag_verb verb;
	bool of_file; /* the expression is for files, not for functions */
	regex_t expression;
	char *name; /* NULL: the verb takes none */
};

struct tags {
	size_t count;
	struct tag_rule rule[TAGS_MAX];
};

#define LINE_MAX_BYTES 1024
#define FILE_MAX_BYTES (1UL << 20)
#define BLANKS         " \t\r"

/* Verbs, and the word before the name. */
static const struct {
	const char *verb, *separator, *form;
} verbs[] = {
    [TAG_MATCH] = {"match", "tag", "match REGEX tag NAME"},
    [TAG_DROP] = {"drop", NULL, "drop REGEX"},
    [TAG_FOLD] = {"fold", "as", "fold REGEX as NAME"},
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

/* A line that is being read. */
struct reading {
	struct tags *tags;
	size_t line; /* its number */
	char *why;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct reading *reading,
							const char *format, ...)
{
	int length = snprintf(reading->why, TAGS_WHY_MAX, "line %zu: ", reading->line);
	va_list args;

	va_start(args, format);
	vsnprintf(reading->why + length, TAGS_WHY_MAX - (size_t)length, format, args);
	va_end(args);
	return -EINVAL;
}

/* Without blanks at both ends. */
static char *trim(char *text)
{
	size_t length;

	text += strspn(text, BLANKS);
	length = strlen(text);
	while (length && strchr(BLANKS, text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

/* The last " WORD " of a text, for an expression may hold the word, too; NULL: there is none. */
static char *find_separator(char *text, const char *word)
{
	const size_t length = strlen(word);
	char *found = NULL;

	for (char *at = strstr(text, word); at; at = strstr(at + 1, word))
		if (at > text && strchr(BLANKS, at[-1]) && at[length] && strchr(BLANKS, at[length]))
			found = at;
	return found;
}

/* Cut a name off behind the separator. */
static int take_name(const struct reading *reading, struct tag_rule *rule, char *rest)
{
	const char *word = verbs[rule->verb].separator;
	char *separator = word ? find_separator(rest, word) : NULL, *name;

	if (!word)
		return 0;
	if (!separator)
		return refuse(reading, "expected '%s'", verbs[rule->verb].form);
	*separator = '\0';
	name = trim(separator + strlen(word));
	if (!*name)
		return refuse(reading, "a name is missing: expected '%s'", verbs[rule->verb].form);
	rule->name = strdup(name);
	return rule->name ? 0 : -ENOMEM;
}

static int take_expression(const struct reading *reading, struct tag_rule *rule, char *text)
{
	static const char prefix[] = "file:";
	char why[128];
	int err;

	rule->of_file = !strncmp(text, prefix, sizeof(prefix) - 1);
	if (rule->of_file)
		text += sizeof(prefix) - 1;
	if (!*text)
		return refuse(reading, "a regular expression is missing: expected '%s'",
			      verbs[rule->verb].form);
	err = regcomp(&rule->expression, text, REG_EXTENDED | REG_NOSUB);
	if (!err)
		return 0;
	if (err == REG_ESPACE)
		return -ENOMEM;
	regerror(err, &rule->expression, why, sizeof(why));
	return refuse(reading, "'%.64s' is no extended regular expression: %s", text, why);
}

static int take_rule(const struct reading *reading, enum tag_verb verb, char *rest)
{
	struct tags *tags = reading->tags;
	struct tag_rule *rule = &tags->rule[tags->count];
	int err;

	if (tags->count == TAGS_MAX)
		return refuse(reading, "there are more than %d rules", TAGS_MAX);
	*rule = (struct tag_rule){.verb = verb};
	err = take_name(reading, rule, rest);
	if (!err)
		err = take_expression(reading, rule, trim(rest));
	if (err)
		free(rule->name);
	else
		tags->count++;
	return err;
}

static int take_line(const struct reading *reading, char *line)
{
	char *words = trim(line);
	const size_t length = strcspn(words, BLANKS);

	if (!*words || *words == '#')
		return 0;
	for (size_t i = 0; i < VERBS; i++)
		if (strlen(verbs[i].verb) == length && !strncmp(words, verbs[i].verb, length))
			return take_rule(reading, (enum tag_verb)i, words + length);
	return refuse(reading, "'%.*s': expected match, drop or fold",
		      (int)(length < 32 ? length : 32), words);
}

static int take_lines(struct reading *reading, const char *text, size_t size)
{
	const char *end = text + size;
	int err = 0;

	for (const char *next; !err && text < end; text = next) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const size_t length = (size_t)((newline ? newline : end) - text);
		char line[LINE_MAX_BYTES];

		next = newline ? newline + 1 : end;
		reading->line++;
		if (length >= sizeof(line))
			return refuse(reading, "it is longer than %d bytes", LINE_MAX_BYTES - 1);
		if (memchr(text, '\0', length))
			return refuse(reading, "it holds a NUL: the file is no text");
		memcpy(line, text, length);
		line[length] = '\0';
		err = take_line(reading, line);
	}
	return err;
}

int tags_parse(const char *text, size_t size, struct tags **ret, char *ret_why)
{
	struct reading reading = {.tags = calloc(1, sizeof(struct tags)), .why = ret_why};
	int err = reading.tags ? take_lines(&reading, text, size) : -ENOMEM;

	if (err)
		tags_free(reading.tags);
	else
		*ret = reading.tags;
	return err;
}

int tags_read(const char *file, struct tags **ret, char *ret_why)
{
	_cleanup_free_ char *text = malloc(FILE_MAX_BYTES);
	FILE *in = fopen(file, "re");
	size_t size;
	int err;

	*ret_why = '\0';
	if (!in || !text) {
		err = in ? -ENOMEM : -errno;
		if (in)
			fclose(in);
		return err;
	}
	errno = 0;
	size = fread(text, 1, FILE_MAX_BYTES, in);
	err = ferror(in) ? -(errno ? errno : EIO) : 0;
	fclose(in);
	if (!err && size == FILE_MAX_BYTES)
		err = -EFBIG;
	return err ? err : tags_parse(text, size, ret, ret_why);
}

void tags_free(struct tags *tags)
{
	for (size_t i = 0; tags && i < tags->count; i++) {
		regfree(&tags->rule[i].expression);
		free(tags->rule[i].name);
	}
	free(tags);
}

/* One rule, and what of the message it fits. */
struct applying {
	const struct tag_rule *rule;
	struct message *message;
	bool *function;  /* by place: does it fit? */
	__s64 key, name; /* texts of the message */
};

static void *take(const struct applying *applying, size_t size)
{
	return arena_alloc(&applying->message->arena, size);
}

static bool fits(const struct applying *applying, const Function *function)
{
	const __s64 text = applying->rule->of_file ? function->filename : function->name;

	return !regexec(&applying->rule->expression, message_text(applying->message, text), 0, NULL,
			0);
}

/* Does one of the functions of a location fit? */
static bool location_fits(const struct applying *applying, __u64 location)
{
	const Location *place = applying->message->profile->location[location - 1];

	for (size_t i = 0; i < place->n_line; i++)
		if (applying->function[place->line[i]->function_id - 1])
			return true;
	return false;
}

static bool sample_fits(const struct applying *applying, const Sample *sample)
{
	for (size_t i = 0; i < sample->n_location_id; i++)
		if (location_fits(applying, sample->location_id[i]))
			return true;
	return false;
}

static int drop(const struct applying *applying)
{
	Profile *profile = applying->message->profile;
	size_t count = 0;

	for (size_t i = 0; i < profile->n_sample; i++)
		if (!sample_fits(applying, profile->sample[i]))
			profile->sample[count++] = profile->sample[i];
	profile->n_sample = count;
	return 0;
}

static int tag(const struct applying *applying, Sample *sample)
{
	Label **labels = take(applying, (sample->n_label + 1) * sizeof(Label *));
	Label *label = take(applying, sizeof(*label));

	if (!labels || !label)
		return -ENOMEM;
	perftools__profiles__label__init(label);
	label->key = applying->key;
	label->str = applying->name;
	if (sample->n_label)
		memcpy(labels, sample->label, sample->n_label * sizeof(Label *));
	labels[sample->n_label++] = label;
	sample->label = labels;
	return 0;
}

/* Those that no rule before has given a tag. */
static int match(const struct applying *applying)
{
	const Profile *profile = applying->message->profile;
	int err = 0;

	for (size_t i = 0; !err && i < profile->n_sample; i++)
		if (!*message_label(applying->message, profile->sample[i], "tag") &&
		    sample_fits(applying, profile->sample[i]))
			err = tag(applying, profile->sample[i]);
	return err;
}

/* A table of the message with one entry more, which is the last one. NULL: no memory. */
static void **grow(const struct applying *applying, void *table, size_t *count, size_t size)
{
	void **more = take(applying, (*count + 1) * sizeof(*more));

	if (!more)
		return NULL;
	if (*count)
		memcpy(more, table, *count * sizeof(*more));
	more[*count] = take(applying, size);
	if (!more[*count])
		return NULL;
	++*count;
	return more;
}

/* Add the function that replaces those that are folded. Returns its number, or 0: no memory. */
static __u64 add_function(const struct applying *applying)
{
	Profile *profile = applying->message->profile;
	size_t count = profile->n_function;
	void **table = grow(applying, profile->function, &count, sizeof(Function));
	Function *function = table ? table[count - 1] : NULL;

	if (!function)
		return 0;
	perftools__profiles__function__init(function);
	function->id = count;
	function->name = function->system_name = applying->name;
	profile->function = (Function **)table;
	profile->n_function = count;
	return count;
}

/*
 * Add the location that replaces those that are folded, with the mapping of one of them; 0: no
 * memory.
 */
static __u64 add_location(const struct applying *applying, __u64 mapping)
{
	Profile *profile = applying->message->profile;
	const __u64 function = add_function(applying);
	size_t count = profile->n_location;
	void **table = grow(applying, profile->location, &count, sizeof(Location));
	Location *location = table ? table[count - 1] : NULL;
	Line *line = take(applying, sizeof(*line));
	Line **lines = take(applying, sizeof(Line *));

	if (!function || !location || !line || !lines)
		return 0;
	perftools__profiles__line__init(line);
	line->function_id = function;
	lines[0] = line;
	perftools__profiles__location__init(location);
	location->id = count;
	location->mapping_id = mapping;
	location->n_line = 1;
	location->line = lines;
	profile->location = (Location **)table;
	profile->n_location = count;
	return count;
}

/* `fold[place]`: it is to be folded. Neighbours of these become `one`. */
static void fold_sample(Sample *sample, const bool *fold, __u64 one)
{
	size_t count = 0;

	for (size_t i = 0; i < sample->n_location_id; i++) {
		const __u64 location = sample->location_id[i];

		if (!fold[location - 1])
			sample->location_id[count++] = location;
		else if (!count || sample->location_id[count - 1] != one)
			sample->location_id[count++] = one;
	}
	sample->n_location_id = count;
}

static int fold(const struct applying *applying)
{
	const Profile *profile = applying->message->profile;
	const size_t locations = profile->n_location;
	_cleanup_free_ bool *folds = calloc(locations + 1, sizeof(*folds));
	__u64 mapping = 0, one;
	bool any = false;

	if (!folds)
		return -ENOMEM;
	for (size_t i = 0; i < locations; i++) {
		folds[i] = location_fits(applying, i + 1);
		mapping = folds[i] && !any ? profile->location[i]->mapping_id : mapping;
		any = any || folds[i];
	}
	if (!any)
		return 0;
	one = add_location(applying, mapping);
	for (size_t i = 0; one && i < profile->n_sample; i++)
		fold_sample(profile->sample[i], folds, one);
	return one ? 0 : -ENOMEM;
}

static int apply(struct message *message, const struct tag_rule *rule)
{
	const Profile *profile = message->profile;
	_cleanup_free_ bool *function = calloc(profile->n_function + 1, sizeof(*function));
	struct applying applying = {.rule = rule, .message = message, .function = function};

	if (!function)
		return -ENOMEM;
	for (size_t i = 0; i < profile->n_function; i++)
		function[i] = fits(&applying, profile->function[i]);
	if (rule->verb == TAG_DROP)
		return drop(&applying);
	applying.name = message_add_text(message, rule->name);
	applying.key = rule->verb == TAG_MATCH ? message_add_text(message, "tag") : 0;
	if (applying.name < 0 || applying.key < 0)
		return -ENOMEM;
	return rule->verb == TAG_MATCH ? match(&applying) : fold(&applying);
}

int tags_apply(const struct tags *tags, struct message *message)
{
	static const enum tag_verb order[] = {TAG_DROP, TAG_MATCH, TAG_FOLD};
	int err = 0;

	for (size_t verb = 0; verb < sizeof(order) / sizeof(order[0]); verb++)
		for (size_t i = 0; !err && i < tags->count; i++)
			if (tags->rule[i].verb == order[verb])
				err = apply(message, &tags->rule[i]);
	return err;
}
