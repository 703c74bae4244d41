/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Changes in place: what becomes of the traceparent and tracestate fields of a request that a rule
 * wants to restart or to strip. Not a byte is added or taken away, so no number changes.
 *
 * A field is never taken out, but renamed, and every character of its value becomes "=". Blanks in
 * place of the whole line would be part of the field before it, and there are servers that take
 * blanks at the end of a value for a part of it. So the lines of a head stay what they are, no
 * other field is touched, and none ends with a blank.
 *
 * What was sent can no longer be changed. Of a name that was sent in part the rest is changed,
 * which makes another name of it, too: the new ones end with other letters. Of a value that was
 * sent in part the rest is changed: no tracestate, and no traceparent of version 00, that ends with
 * "=" is valid, so whoever reads it has to ignore all of it.
 *
 * Pure: no helper, no allocation; compiled for BPF and natively.
 */
#ifndef CTXPROP_CHANGE_H
#define CTXPROP_CHANGE_H

#include "edits.h"
#include "http/protocol.h"
#include "traceparent.h"

/*
 * What the fields are called then: x-ctxprop-0 for traceparent, x-ctxprop0 for tracestate. In
 * words, colon and all.
 */
#define CHANGE_NAME       HTTP1_TEXT('x', '-', 'c', 't', 'x', 'p', 'r', 'o')
#define CHANGE_PARENT_END HTTP1_TEXT('p', '-', '0', ':', 0, 0, 0, 0)
#define CHANGE_STATE_END  HTTP1_TEXT('p', '0', ':', 0, 0, 0, 0, 0)
/* Their lengths, and those of the old names. */
#define CHANGE_PARENT_LEN 11
#define CHANGE_STATE_LEN  10

/* Fields of one head that are changed in one packet. */
#define CHANGE_FIELDS_MAX 8

/* One of them, as far as it stands in the packet at hand. All numbers are of the app stream. */
struct change_field {
	__u32 value; /* the first byte of its value, or of what this packet has of it */
	__u32 end;   /* behind the last one */
	__u32 colon; /* if it begins here */
	__u8 begins; /* the value begins here; 0: it goes on from an earlier packet */
	__u8 state;  /* 1: tracestate, 0: traceparent */
	__u8 reserved[2];
};

struct change_fields {
	__u32 count;
	__u32 more; /* there are others, for which there was no room */
	struct change_field field[CHANGE_FIELDS_MAX];
};

/* What is known of the head at hand (protocol_marks()). */
enum change_head {
	CHANGE_HEAD_NEW = 1 << 0,  /* it has got another traceparent */
	CHANGE_HEAD_LEFT = 1 << 1, /* a field of it was not renamed */
};

/* What to do with the fields. */
struct change_order {
	__u32 limit;  /* bytes before this number were sent */
	__u32 parent; /* 1: the first traceparent that can becomes another one */
	__u32 open;   /* 1: the value of the last field goes on in the next packet */
	__u32 first;  /* of the fields: index of the first one to be recorded */
	__u32 last;   /* and behind the last one */
};

/* PROTOCOL_VALUE: the bytes [from, to) of the stream belong to a value. */
static inline void change_note(struct change_fields *fields, const struct protocol *s, __u32 from,
			       __u32 to)
{
	struct change_field *field = &fields->field[(fields->count - 1) & (CHANGE_FIELDS_MAX - 1)];

	if (!protocol_value_begins(s) && fields->count) {
		field->end = to;
		return;
	}
	if (fields->count >= CHANGE_FIELDS_MAX) {
		fields->more = 1;
		return;
	}
	field = &fields->field[fields->count & (CHANGE_FIELDS_MAX - 1)];
	field->value = from;
	field->end = to;
	field->colon = from - protocol_value_blanks(s) - 1;
	field->begins = protocol_value_begins(s);
	field->state = protocol_field(s) == PROTOCOL_FIELD_STATE;
	fields->count++;
}

/* Can something of the field's name be changed? */
static inline int change_renames(const struct change_field *field, __u32 limit)
{
	return field->begins && seq_before(limit, field->colon);
}

/*
 * The edit that takes a field out. Returns 0 when there is nothing to change, also of a field
 * whose name was sent and has no value.
 */
static inline int change_cut(const struct change_field *field, __u32 limit, struct edit *ret)
{
	__u32 name_len = field->state ? CHANGE_STATE_LEN : CHANGE_PARENT_LEN;
	__u32 name = 0, at = seq_before(field->value, limit) ? limit : field->value;

	if (change_renames(field, limit)) {
		name = field->colon - limit < name_len ? field->colon - limit : name_len;
		at = field->colon - name;
	}
	if (!seq_before(at, field->end))
		return 0;
	__builtin_memset(ret, 0, sizeof(*ret));
	ret->at = at;
	ret->kind = EDIT_CUT;
	ret->extent = field->end - at;
	ret->name = name;
	ret->state = field->state ? EDIT_CUT_STATE : EDIT_CUT_PARENT;
	return 1;
}

/*
 * Has a field a value, all of it unsent, that another traceparent can take the place of? Of a
 * longer one the end: blanks before a value are not part of it for anybody, blanks behind it are
 * for some.
 */
static inline int change_can_be_parent(const struct change_field *field, __u32 limit)
{
	return field->begins && !field->state && !seq_before(field->value, limit) &&
	       field->end - field->value >= TRACEPARENT_VALUE_LEN;
}

/* Which field that is; CHANGE_FIELDS_MAX: none. */
static inline __u32 change_find_parent(const struct change_fields *fields,
				       const struct change_order *order)
{
	__u32 count = fields->count - (order->open ? 1 : 0);

	for (__u32 i = 0; i < CHANGE_FIELDS_MAX; i++) {
		if (i >= count || !order->parent)
			break;
		if (change_can_be_parent(&fields->field[i], order->limit))
			return i;
	}
	return CHANGE_FIELDS_MAX;
}

/* Does any field keep its name, other than the one that change_find_parent() says? */
static inline int change_leaves(const struct change_fields *fields,
				const struct change_order *order)
{
	__u32 parent = change_find_parent(fields, order);

	for (__u32 i = 0; i < CHANGE_FIELDS_MAX; i++) {
		const struct change_field *field = &fields->field[i];

		if (i >= fields->count)
			break;
		if (i != parent && field->begins && !change_renames(field, order->limit))
			return 1;
	}
	return fields->more;
}

/* Do the edits that it may take fit, and `more` beside them? */
static inline int change_fits(const struct edits *e, const struct change_fields *fields, __u32 more)
{
	/* One for each field, and one for what stands before the value of the new traceparent. */
	return edits_count(e) + fields->count + 1 + more <= EDITS_MAX;
}

/* Blanks from the start of a value up to the last characters of it, `at`. Returns how many edits.
 */
static inline __u32 change_record_front(struct edits *e, __u32 value, __u32 at, struct edit *work)
{
	if (value == at)
		return 0;
	__builtin_memset(work, 0, sizeof(*work));
	work->at = value;
	work->kind = EDIT_CUT;
	work->extent = at - value;
	work->state = EDIT_CUT_FRONT;
	return !edits_add(e, work);
}

/* Record the edits of one field. `parent`: 0, or the ids of the new traceparent. Returns how many.
 */
static inline __u32 change_record(struct edits *e, const struct change_field *field,
				  const struct change_order *order, struct edit *work,
				  const struct edit *parent)
{
	__u32 at = field->end - TRACEPARENT_VALUE_LEN, n;

	if (!parent)
		return change_cut(field, order->limit, work) && !edits_add(e, work);
	n = change_record_front(e, field->value, at, work);
	*work = *parent;
	work->at = at;
	work->len = 0;
	work->kind = EDIT_PARENT;
	return n + !edits_add(e, work);
}

/* How many of the fields have values before this number. */
static inline __u32 change_before(const struct change_fields *fields, __u32 number)
{
	__u32 n = 0;

	for (__u32 i = 0; i < CHANGE_FIELDS_MAX; i++)
		n += i < fields->count && seq_before(fields->field[i].value, number);
	return n;
}

/*
 * Record the edits of the fields that are to be recorded; they have to fit. `ids` has those of a
 * new traceparent, for the field that change_find_parent() says. Returns how many edits there are.
 */
static inline __u32 change_record_all(struct edits *e, const struct change_fields *fields,
				      const struct change_order *order, struct edit *work,
				      const struct edit *ids)
{
	__u32 parent = change_find_parent(fields, order), n = 0;

	for (__u32 i = 0; i < CHANGE_FIELDS_MAX; i++) {
		if (i >= order->last)
			break;
		if (i < order->first)
			continue;
		n += change_record(e, &fields->field[i], order, work, i == parent ? ids : 0);
	}
	return n;
}

/* What characters of a value become. */
#define CHANGE_FILLER '='
/* What an edit makes of bytes begins with CHANGE_TEXT bytes of text. All that follow are fillers.
 */
#define CHANGE_TEXT 64
/* Bytes that are rendered. */
#define CHANGE_RENDERED 256

/* The first `n` bytes of a word of text, and fillers behind them, as they stand in memory. */
static inline __u64 change_text(__u64 word, __u32 n)
{
	__u64 mask = n > 7 ? ~0ull : (1ull << (8 * n & 63)) - 1;

	word = (word & mask) | (HTTP1_EACH(CHANGE_FILLER) & ~mask);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

/*
 * The new name, as far as it is changed, and the colon, at the start of `to`. By words: the
 * verifier would go each way through a loop over bytes.
 */
static inline void change_render_name(const struct edit *e, __u64 *to)
{
	__u64 end = e->state ? CHANGE_STATE_END : CHANGE_PARENT_END, first = end, second = 0;
	__u32 skip = (e->state ? CHANGE_STATE_LEN : CHANGE_PARENT_LEN) - e->name;
	__u32 bits = 8 * skip & 63, len = e->name + 1;

	if (!e->name)
		return;
	first >>= bits;
	if (skip < 8) {
		second = first;
		/* In two steps: a shift by 64 is none. */
		first = CHANGE_NAME >> bits | end << 1 << (63 - bits);
	}
	to[0] = change_text(first, len);
	to[1] = change_text(second, len > 8 ? len - 8 : 0);
}

/*
 * Render what the bytes of an edit become: byte i of it is to[i], or, from CHANGE_TEXT on, any
 * filler behind that.
 */
static inline void change_render(const struct edit *e, struct traceparent_line *line, __u64 *to)
{
	const __u8 *value = (const __u8 *)line + sizeof("traceparent: ") - 1;

	__u8 filler = e->kind == EDIT_CUT && e->state == EDIT_CUT_FRONT ? ' ' : CHANGE_FILLER;

	for (__u32 i = 0; i < CHANGE_RENDERED / 8; i++)
		to[i] = HTTP1_EACH(filler);
	if (e->kind != EDIT_PARENT) {
		change_render_name(e, to);
		return;
	}
	traceparent_write(line, e);
	for (__u32 i = 0; i < (TRACEPARENT_VALUE_LEN + 7) / 8; i++)
		to[i] = word_load(value + 8 * i);
}

#endif
