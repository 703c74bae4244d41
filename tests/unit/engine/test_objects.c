// SPDX-License-Identifier: Apache-2.0
/* What objects of a program tell of calls: whether that counts, and what is learnt of it. */
#include "steps.h"
#include "runtimes/native/objects.h"

enum { SHAPE = 5, OTHER_SHAPE = 6, FIRST = 0x1000, SECOND = 0x2000, CONNECTION = 0x3000 };

/* They lead to a request, by its object. */
static struct objects_told told(__u64 request)
{
	return (struct objects_told){.request = request,
				     .from = CONNECTION,
				     .by = request == 7 ? FIRST : SECOND,
				     .shape = SHAPE,
				     .only = 1};
}

static const struct objects_told nobody = {.request = OBJECTS_NO_REQUEST};

/* A call begins of which they tell that. Returns whether it counts. */
static int begins(struct runtime_objects *o, struct socket *s, const struct objects_told *now)
{
	int counts = objects_note(o, s, process(), now);

	s->calls_end++;
	return counts;
}

/* Its answer comes, and they tell this. */
static void answered(struct runtime_objects *o, struct socket *s, const struct objects_told *now)
{
	objects_learn(o, s, s->told, now);
	objects_idle(o, now, 1, 2);
}

static void goes(struct runtime_objects *o, struct socket *s, const struct objects_told *now)
{
	begins(o, s, now);
	answered(o, s, now);
}

/* A request for which an object stands. */
static void taken(__u64 id)
{
	struct actor a = actor(TID, 1);
	struct socket s = {};

	take(&s, id, &a);
	request_has_object(request_lookup(id), id);
}

/* Two requests are open, and one of them has called, so that objects have told what counts. */
static struct objects_told established(struct runtime_objects *o, struct socket *s)
{
	struct objects_told now = told(7);

	taken(7);
	taken(8);
	for (__u32 i = 0; i < habit_rules[HABIT_OBJECTS_CLEAR].least; i++) {
		assert_false(begins(o, s, &now));
		answered(o, s, &now);
		objects_clear(o);
	}
	return now;
}

static void objects_that_have_told_the_same(void **state)
{
	struct runtime_objects o = {};
	struct socket s = {}, fresh = {}, used = {.calls_end = 1};
	struct objects_told now = established(&o, &s);

	(void)state;
	assert_true(begins(&o, &s, &now));
	answered(&o, &s, &now);
	assert_true(begins(&o, &fresh, &now));
	assert_false(begins(&o, &used, &now));
	now.only = 0;
	assert_false(begins(&o, &s, &now));
	now = told(8);
	now.shape = OTHER_SHAPE;
	assert_false(begins(&o, &s, &now));
}

/* What stays there between calls may be left from the last one. */
static void objects_that_are_left(void **state)
{
	struct runtime_objects o = {};
	struct objects_told now = told(7);
	struct socket s = {};

	(void)state;
	taken(7);
	taken(8);
	for (int i = 0; i < 40; i++)
		goes(&o, &s, &now);
	assert_false(begins(&o, &s, &now));
}

/* Who has called is noted after that: what they tell then is of the call before, or of none. */
static void objects_that_are_late(void **state)
{
	struct runtime_objects o = {}, early = {};
	struct socket s = {}, another = {};
	struct objects_told one = established(&o, &s), other = told(8);

	(void)state;
	begins(&o, &s, &one);
	answered(&o, &s, &other);
	goes(&o, &s, &one);
	objects_clear(&o);
	objects_clear(&o);
	assert_false(begins(&o, &s, &one));
	goes(&early, &another, &one);
	begins(&early, &another, &nobody);
	answered(&early, &another, &one);
	assert_int_equal(early.kept, 0);
}

/* Who was told of may have been any that was open, the oldest one, say. */
static void requests_that_end_before_the_answer(void **state)
{
	struct runtime_objects o = {};
	struct socket s = {};
	struct objects_told now = established(&o, &s);

	(void)state;
	begins(&o, &s, &now);
	end(7);
	answered(&o, &s, &nobody);
	assert_int_equal(o.kept, 0);
	assert_int_equal(o.bad_shape, SHAPE);
}

/* When two ways have not held, none is believed any more. */
static void ways_that_break(void **state)
{
	struct runtime_objects o = {};
	struct objects_told now = told(7), later = told(8);
	struct socket s = {};

	(void)state;
	taken(7);
	taken(8);
	for (__u32 shape = SHAPE; shape <= OTHER_SHAPE; shape++) {
		assert_true(objects_are_wanted(&o));
		now.shape = shape;
		goes(&o, &s, &now);
		begins(&o, &s, &now);
		answered(&o, &s, &later);
	}
	assert_false(objects_are_wanted(&o));
}

/* The way that has told the same most often counts. */
static void ways_that_are_rare(void **state)
{
	struct runtime_objects o = {};
	struct socket s = {}, odd = {};
	struct objects_told usual = established(&o, &s), rare = usual;

	(void)state;
	goes(&o, &s, &usual);
	rare.shape = OTHER_SHAPE;
	goes(&o, &odd, &rare);
	assert_false(begins(&o, &odd, &rare));
	assert_true(begins(&o, &s, &usual));
}

/* Beside a request that has no object, others would be the nearest. */
static void requests_without_objects(void **state)
{
	struct actor a = actor(TID, 1);
	struct runtime_objects o = {};
	struct socket s = {}, server = {};
	struct objects_told now = established(&o, &s);

	(void)state;
	take(&server, 9, &a);
	assert_false(begins(&o, &s, &now));
	end(9);
	assert_true(begins(&o, &s, &now));
	assert_int_equal(process()->objects, 2);
	end(7);
	end(8);
	assert_int_equal(process()->objects, 0);
}

/* What they tell is looked at until nothing comes of it; and then, when a call is unknown. */
static void looks_that_are_in_vain(void **state)
{
	struct runtime_objects o = {.looks = OBJECTS_LOOKS, .kept = OBJECTS_KEPT};
	struct call unknown = {.veto = VETO_IDLE_LOOP};
	struct socket s = {};

	(void)state;
	assert_false(objects_are_wanted(&o));
	objects_decided(&o, &s, &unknown);
	assert_true(objects_are_wanted(&o));
	o.looks = OBJECTS_LOOKS;
	o.kept--;
	objects_decided(&o, &s, &unknown);
	assert_false(objects_are_wanted(&o));
}

/* Nor are requests where nobody calls. */
static void requests_of_which_nobody_calls(void **state)
{
	struct runtime_objects o = {};

	(void)state;
	for (int i = 0; i < OBJECTS_LOOKS; i++)
		assert_true(objects_are_read(&o));
	assert_false(objects_are_read(&o));
	o.reads = 0; /* a call begins */
	assert_true(objects_are_read(&o));
	o.looks = OBJECTS_LOOKS;
	assert_false(objects_are_read(&o));
}

/* They tell something else than what is certain, again and again. */
static void objects_that_are_disputed(void **state)
{
	struct runtime_objects o = {.kept = OBJECTS_KEPT};
	struct call c = {.evidence = EVIDENCE_LOOP, .request = 8};
	struct socket s = {.told = 7};

	(void)state;
	for (int i = 0; i < OBJECTS_DISPUTES; i++) {
		assert_int_equal(o.wrong, 0);
		objects_decided(&o, &s, &c);
		assert_int_equal(o.kept, 0);
	}
	assert_int_equal(o.wrong, 1);
}

/* A loop is about to call, and objects tell that. */
static struct actor calls(__u64 request)
{
	struct actor a = actor(TID, 1);

	a.named = request;
	a.counts = 1;
	return a;
}

/* They speak against rivals, but never for another one than what was read last, in this turn. */
static void calls_that_objects_tell_of(void **state)
{
	struct actor a = actor(TID, 1);
	struct socket first = {}, second = {}, client = {.calls_end = 1};
	const struct call *c;

	(void)state;
	take(&first, 7, &a);
	take(&second, 8, &a); /* both could call */
	a = calls(7);
	assert_int_equal(call(&client, &a)->request, 0);
	a = calls(8);
	c = call(&client, &a);
	assert_int_equal(c->request, 8);
	assert_int_equal(c->evidence, EVIDENCE_OBJECT);
	a.counts = 0;
	assert_int_equal(call(&client, &a)->request, 0);
	process_breaks(process_make(&a.key.tgid),
		       HABIT_LOOPS_APART); /* then what was read last says nothing */
	a.counts = 1;
	assert_int_equal(call(&client, &a)->request, 0);
	process_make(&a.key.tgid)->habit[HABIT_LOOPS_APART].broken = 0;
	store_turn++;
	a = calls(8);
	assert_int_equal(call(&client, &a)->request, 0);
	end(8);
	a = calls(8);
	assert_int_equal(call(&client, &a)->request, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(objects_that_have_told_the_same),
	    CASE(objects_that_are_left),
	    CASE(objects_that_are_late),
	    CASE(requests_that_end_before_the_answer),
	    CASE(ways_that_break),
	    CASE(ways_that_are_rare),
	    CASE(requests_without_objects),
	    CASE(looks_that_are_in_vain),
	    CASE(requests_of_which_nobody_calls),
	    CASE(objects_that_are_disputed),
	    CASE(calls_that_objects_tell_of),
	};

	return cmocka_run_group_tests_name("objects", tests, NULL, NULL);
}
