// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <llhttp.h>

#include "head.h"

/* Text is collected as offsets: the buffer moves while it grows. */
struct field_at {
	size_t name;
	size_t value;
};

struct head_reader {
	llhttp_t parser;
	llhttp_settings_t settings;
	struct head_handler handler;
	enum head_kind kind;
	int error;
	uint64_t offset; /* stream bytes read */
	bool no_body;

	char *text; /* NUL-terminated strings, one after the other */
	size_t used, room;
	struct field_at at[HEAD_FIELDS_MAX];
	struct head_field fields[HEAD_FIELDS_MAX];
	size_t count;
	bool has_target;
	bool truncated;
	bool in_trailers; /* the head is over */
	bool ended;       /* the message is over */
};

static struct head_reader *reader_of(llhttp_t *parser)
{
	return parser->data;
}

/* Make room for `len` more bytes of text. Returns whether there is. */
static bool text_reserve(struct head_reader *r, size_t len)
{
	size_t room = r->room ? r->room : 1024;
	char *text;

	if (r->used + len > HEAD_TEXT_MAX)
		return false;
	while (room < r->used + len)
		room *= 2;
	if (room == r->room)
		return true;
	text = realloc(r->text, room);
	if (!text)
		return false;
	r->text = text;
	r->room = room;
	return true;
}

static int text_add(struct head_reader *r, const char *at, size_t len)
{
	if (r->in_trailers || r->truncated)
		return 0;
	if (!text_reserve(r, len)) {
		r->truncated = true;
		return 0;
	}
	memcpy(r->text + r->used, at, len);
	r->used += len;
	return 0;
}

static int text_end(struct head_reader *r)
{
	return text_add(r, "", 1);
}

static int on_begin(llhttp_t *parser)
{
	struct head_reader *r = reader_of(parser);

	/* After `Connection: close` llhttp 8 goes on with the length of the message before. */
	parser->content_length = 0;
	r->used = r->count = 0;
	r->has_target = r->truncated = r->in_trailers = r->ended = false;
	return 0;
}

static int on_text(llhttp_t *parser, const char *at, size_t len)
{
	return text_add(reader_of(parser), at, len);
}

/* A name is complete; its value begins where it ends. Names follow values without a gap. */
static int on_name_end(llhttp_t *parser)
{
	struct head_reader *r = reader_of(parser);

	text_end(r);
	if (r->in_trailers || r->truncated)
		return 0;
	if (r->count == HEAD_FIELDS_MAX) {
		r->truncated = true;
		return 0;
	}
	r->at[r->count].value = r->used;
	return 0;
}

/* Blanks after a value are not part of it. */
static void trim(struct head_reader *r, size_t from)
{
	while (r->used > from && (r->text[r->used - 1] == ' ' || r->text[r->used - 1] == '\t'))
		r->used--;
}

static int on_value_end(llhttp_t *parser)
{
	struct head_reader *r = reader_of(parser);

	if (r->in_trailers || r->truncated)
		return 0;
	trim(r, r->at[r->count].value);
	text_end(r);
	if (r->truncated)
		return 0;
	r->count++;
	if (r->count < HEAD_FIELDS_MAX)
		r->at[r->count].name = r->used;
	return 0;
}

/* The target of a request is complete: the first name begins after it. */
static int on_target_end(llhttp_t *parser)
{
	struct head_reader *r = reader_of(parser);

	text_end(r);
	r->has_target = !r->truncated;
	r->at[0].name = r->used;
	return 0;
}

/* Does this message have no body, whatever its fields say (RFC 9112, 6.3)? */
static bool is_bodiless(const struct head_reader *r)
{
	unsigned status = r->parser.status_code;

	if (r->kind == HEAD_REQUEST)
		return false;
	return r->no_body || status < 200 || status == 204 || status == 304;
}

/* Pausing is how the place of an event is learned. */
static int on_head(llhttp_t *parser)
{
	struct head_reader *r = reader_of(parser);

	r->in_trailers = true;
	if (is_bodiless(r))
		parser->flags |= F_SKIPBODY;
	return HPE_PAUSED;
}

static int on_end(llhttp_t *parser)
{
	reader_of(parser)->ended = true;
	return HPE_PAUSED;
}

int head_reader_new(enum head_kind kind, const struct head_handler *handler,
		    struct head_reader **ret_reader)
{
	struct head_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	llhttp_settings_init(&r->settings);
	r->settings.on_message_begin = on_begin;
	r->settings.on_url = on_text;
	r->settings.on_url_complete = on_target_end;
	r->settings.on_header_field = on_text;
	r->settings.on_header_field_complete = on_name_end;
	r->settings.on_header_value = on_text;
	r->settings.on_header_value_complete = on_value_end;
	r->settings.on_headers_complete = on_head;
	r->settings.on_message_complete = on_end;
	llhttp_init(&r->parser, kind == HEAD_REQUEST ? HTTP_REQUEST : HTTP_RESPONSE, &r->settings);
	/* Whether more messages follow is for the bytes to tell, not for a field. */
	llhttp_set_lenient_keep_alive(&r->parser, 1);
	r->parser.data = r;
	r->handler = *handler;
	r->kind = kind;
	*ret_reader = r;
	return 0;
}

void head_reader_free(struct head_reader *reader)
{
	if (!reader)
		return;
	free(reader->text);
	free(reader);
}

void head_reader_reset(struct head_reader *reader)
{
	llhttp_reset(&reader->parser);
	reader->error = 0;
	reader->offset = 0;
	reader->used = reader->count = 0;
	reader->no_body = reader->has_target = reader->truncated = false;
	reader->in_trailers = reader->ended = false;
}

static void fill_head(struct head_reader *r, struct head *ret_head)
{
	bool request = r->kind == HEAD_REQUEST;
	const char *target = r->has_target ? r->text : "";

	*ret_head = (struct head){
	    .kind = r->kind,
	    .method = request ? llhttp_method_name(r->parser.method) : NULL,
	    .target = request ? target : NULL,
	    .status = request ? 0 : r->parser.status_code,
	    .minor = r->parser.http_minor,
	    .fields = r->fields,
	    .count = r->count,
	    .truncated = r->truncated,
	};

	for (size_t i = 0; i < r->count; i++) {
		r->fields[i].name = r->text + r->at[i].name;
		r->fields[i].value = r->text + r->at[i].value;
	}
}

void head_reader_partial(struct head_reader *reader, struct head *ret_head)
{
	if (!reader->has_target)
		text_end(reader);
	reader->has_target |= reader->used > 0;
	fill_head(reader, ret_head);
	ret_head->truncated = true;
}

static void report_head(struct head_reader *r)
{
	struct head head;

	fill_head(r, &head);
	r->handler.head(r->handler.data, &head, r->offset);
}

/* The parser has paused at an event. */
static void report(struct head_reader *r)
{
	if (!r->ended) {
		report_head(r);
		return;
	}
	if (r->kind == HEAD_RESPONSE && r->parser.status_code >= 200)
		r->no_body = false;
	r->handler.end(r->handler.data, r->offset);
}

/* Go on after a stop of the parser. Returns 0, or the error that ends the stream. */
static int go_on(struct head_reader *r, llhttp_errno_t why)
{
	switch (why) {
	case HPE_PAUSED:
		report(r);
		llhttp_resume(&r->parser);
		return 0;
	case HPE_PAUSED_UPGRADE:
		/* An Upgrade that is only asked for changes nothing yet. */
		if (r->kind == HEAD_RESPONSE || r->parser.method == HTTP_CONNECT)
			return -EOPNOTSUPP;
		llhttp_resume_after_upgrade(&r->parser);
		return 0;
	case HPE_PAUSED_H2_UPGRADE:
		return -EOPNOTSUPP;
	default:
		return -EPROTO;
	}
}

int head_reader_feed(struct head_reader *reader, const void *bytes, size_t len)
{
	const char *at = bytes, *end = at + len;

	while (!reader->error) {
		llhttp_errno_t why = llhttp_execute(&reader->parser, at, end - at);
		const char *stop = why == HPE_OK ? end : llhttp_get_error_pos(&reader->parser);

		reader->offset += stop - at;
		at = stop;
		if (why == HPE_OK)
			break;
		reader->error = go_on(reader, why);
	}
	return reader->error;
}

void head_reader_expect_no_body(struct head_reader *reader)
{
	reader->no_body = true;
}

uint64_t head_reader_offset(const struct head_reader *reader)
{
	return reader->offset;
}

const char *head_reader_error(const struct head_reader *reader)
{
	const char *reason = llhttp_get_error_reason(&reader->parser);

	return reason && *reason ? reason : llhttp_errno_name(llhttp_get_errno(&reader->parser));
}

/* May it stand in a token? */
static bool is_token(unsigned char c)
{
	return isalnum(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

size_t head_method(const void *bytes, size_t len)
{
	const unsigned char *text = bytes;
	size_t at = 0;

	while (at < len && is_token(text[at]))
		at++;
	return at < len && text[at] == ' ' ? at : 0;
}

const char *head_field(const struct head *head, const char *name)
{
	for (size_t i = 0; i < head->count; i++)
		if (!strcasecmp(head->fields[i].name, name))
			return head->fields[i].value;
	return NULL;
}
