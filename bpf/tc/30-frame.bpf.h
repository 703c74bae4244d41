/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stage 3, frame: read a stream (http/protocol.h) in the payload of one packet.
 *
 * The payload is read through a small window; bodies are passed over by arithmetic.
 */
#ifndef CTXPROP_TC_FRAME_BPF_H
#define CTXPROP_TC_FRAME_BPF_H

#include "26-open.bpf.h"

/* Steps of the reading that one packet may cost. */
#define FRAME_STEPS_MAX 4096
/* No place in this payload. */
#define FRAME_NOWHERE 0xffffffff

/* A run over one payload; offsets are relative to its first byte. */
struct frame {
	struct __sk_buff *skb;
	struct scratch *s;
	struct protocol *protocol;
	__u32 payload; /* offset of the payload in the skb */
	__u32 len;     /* of the payload */
	__u32 at;      /* how far the reading has come */
	__u32 window;  /* where the bytes in scratch.window begin */
	__u32 filled;  /* and how many there are */
	__u32 place;   /* of the last event */
	__u32 line;    /* first field line of this head that begins in this payload */
	__u32 event;   /* enum protocol_event */
};

/* Make scratch.window hold the bytes at f->at. Returns 0 or -1. */
static __always_inline int frame_fill(struct frame *f)
{
	__u32 n = f->len - f->at;

	if (n > PROTOCOL_WINDOW)
		n = PROTOCOL_WINDOW;
	if (!size_within(&n, PROTOCOL_WINDOW))
		return -1;
	if (bpf_skb_load_bytes(f->skb, f->payload + f->at, f->s->window.byte, n))
		return -1;
	f->window = f->at;
	f->filled = n;
	return 0;
}

/* Pass over bytes of a body. */
static __always_inline void frame_skip(struct frame *f, __u64 body)
{
	__u32 n = f->len - f->at;

	if (body < n)
		n = body;
	f->event = protocol_skip(f->protocol, n);
	f->at += n;
	f->place = f->at;
}

/*
 * What one step of the reading met; places are relative to the window. All in one word, so that it
 * is returned in a register.
 */
union frame_met {
	struct {
		__u16 next; /* the first byte that is not consumed */
		__u16 at;   /* place of the event */
		__u16 event;
		__u16 line; /* first field line, or FRAME_NO_LINE */
	};
	__u64 word;
};
#define FRAME_NO_LINE ((__u16)PROTOCOL_NOWHERE)

/* One step of the reading: the word of a frame_met. */
VERIFIED_ALONE __u64 frame_scan(struct protocol *protocol, const struct protocol_window *w, __u32 i,
				__u32 len)
{
	union frame_met met = {.event = PROTOCOL_STOP};
	__u32 line = PROTOCOL_NOWHERE;
	struct protocol_step step;

	if (!protocol || !w)
		return met.word;
	step = protocol_scan(protocol, w, i, len, &line);
	met.next = step.next;
	met.at = step.at;
	met.event = step.event;
	met.line = line;
	return met.word;
}

static __always_inline void frame_look(struct frame *f)
{
	__u32 i = f->at - f->window;
	union frame_met met;

	if (i >= f->filled) {
		if (frame_fill(f)) {
			f->event = PROTOCOL_STOP;
			return;
		}
		i = 0;
	}
	met.word = frame_scan(f->protocol, &f->s->window, i, f->filled);
	f->at = f->window + met.next;
	f->place = f->window + met.at;
	f->event = met.event;
	if (f->line == FRAME_NOWHERE && met.line != FRAME_NO_LINE)
		f->line = f->window + met.line;
}

static __always_inline int frame_is_used_up(const struct frame *f)
{
	return f->at >= f->len;
}

/*
 * After PROTOCOL_BLANK: read the LF of the blank line, if it is at hand. The event becomes
 * PROTOCOL_HEAD or PROTOCOL_STOP, which saves a step.
 */
static __always_inline void frame_end_head(struct frame *f)
{
	__u32 i = f->at - f->window;

	if (i >= f->filled)
		return;
	f->event = protocol_end_head(f->protocol, &f->s->window, &i, f->filled);
	f->at = f->place = f->window + i;
}

/* A head has just ended: pass over what is at hand of its body, which saves a step. */
static __always_inline void frame_body(struct frame *f)
{
	__u64 body = protocol_skippable(f->protocol);

	if (body && !frame_is_used_up(f))
		frame_skip(f, body);
}

/* One step. Returns 1 when the payload is used up. */
static __always_inline int frame_once(struct frame *f)
{
	__u64 body = protocol_skippable(f->protocol);

	if (frame_is_used_up(f))
		return 1;
	if (body)
		frame_skip(f, body);
	else
		frame_look(f);
	return 0;
}

/* As a callback of bpf_loop(): on to the next event. Values are passed over. */
static long frame_step(__u32 i, struct frame *f)
{
	(void)i;
	if (frame_once(f))
		return 1;
	if (f->event == PROTOCOL_VALUE)
		f->event = PROTOCOL_NONE;
	return f->event != PROTOCOL_NONE;
}

/* Go on to the next event; PROTOCOL_NONE: the payload is used up. */
static __always_inline enum protocol_event frame_next(struct frame *f)
{
	f->event = PROTOCOL_NONE;
	if (bpf_loop(FRAME_STEPS_MAX, frame_step, f, 0) >= FRAME_STEPS_MAX)
		return PROTOCOL_STOP;
	return f->event;
}

static __always_inline void frame_start(struct frame *f, struct __sk_buff *skb, struct scratch *s,
					struct protocol *protocol, const struct packet *p)
{
	f->skb = skb;
	f->s = s;
	f->protocol = protocol;
	f->payload = p->payload;
	f->len = p->len;
	f->at = 0;
	f->window = f->filled = 0;
	f->place = 0;
	f->line = FRAME_NOWHERE;
	f->event = PROTOCOL_NONE;
}

/* A piece of an x-request-id, which is still in the window. */
VERIFIED_ALONE int frame_request_id(const struct protocol_window *w, struct request_id *id,
				    __u32 from, __u32 n, int first)
{
	if (!w || !id)
		return 0;
	if (first)
		request_id_begin(id);
	for (__u32 i = 0; i < 8 * PROTOCOL_SCAN_WORDS && i < n; i++)
		request_id_feed(id, w->byte[(from + i) & (PROTOCOL_WINDOW - 1)]);
	return 0;
}

/* The event is PROTOCOL_VALUE: is it of an x-request-id? Then it is taken in. */
static __always_inline int frame_takes_id(const struct frame *f, struct request_id *id)
{
	if (protocol_field(f->protocol) != PROTOCOL_FIELD_ID)
		return 0;
	if (use_request_ids)
		frame_request_id(&f->s->window, id, f->place - f->window, f->at - f->place,
				 protocol_value_begins(f->protocol));
	return 1;
}

/* Does this payload begin with a status line, as far as its first word shows? */
static __always_inline int frame_is_status_line(struct __sk_buff *skb, const struct packet *p)
{
	__u64 start;

	if (bpf_skb_load_bytes(skb, p->payload, &start, sizeof(start)))
		return 0;
	return protocol_may_answer(start);
}

/* What stands at the very start of a payload. */
enum frame_start {
	START_OTHER = 0, /* no whole request head */
	START_HEAD,      /* a whole head, but not exactly one message */
	START_MESSAGE,   /* exactly one request, with its body if it has one */
};

/*
 * What does this payload begin with? Nothing is changed: scratch.trial is read.
 * Returns an enum frame_start.
 */
VERIFIED_ALONE int frame_look_ahead(struct __sk_buff *skb, const struct packet *p)
{
	struct scratch *s = scratch_get();
	struct frame f;

	if (!s || !p || !p->len)
		return START_OTHER;
	protocol_begin(&s->trial, PROTOCOL_REQUEST);
	frame_start(&f, skb, s, &s->trial, p);
	/* The blank line comes first, the end of the head after it. */
	/* Each call takes a step. NOLINTNEXTLINE(misc-redundant-expression) */
	if (frame_next(&f) != PROTOCOL_BLANK || frame_next(&f) != PROTOCOL_HEAD)
		return START_OTHER;
	/* After these it may not go on as it began. */
	if (protocol_is_tunnel(&s->trial) || protocol_asks_upgrade(&s->trial))
		return START_HEAD;
	if (f.at < f.len && frame_next(&f) != PROTOCOL_END)
		return START_HEAD;
	return f.at == f.len && !protocol_in_head(&s->trial) && !protocol_in_body(&s->trial)
		   ? START_MESSAGE
		   : START_HEAD;
}

#endif
