/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where objects of V8 have some properties, which Node's own library names. Objects that were made
 * alike share a map, so that names are looked for once for each map, not for each object.
 */
#ifndef CTXPROP_RUNTIMES_NODE_V8_SHAPE_BPF_H
#define CTXPROP_RUNTIMES_NODE_V8_SHAPE_BPF_H

#include "runtimes/node/maps.bpf.h"
#include "runtimes/node/v8.bpf.h"

#define V8_NAME_MAX        16  /* bytes of a name that are looked at */
#define V8_DESCRIPTORS_MAX 128 /* properties that are looked at */
#define V8_PLACE_OUTSIDE   0x8000

/* A name: text, or a symbol, which has another one for its description, where text begins. */
struct v8_name_text {
	__u64 map;
	__u32 hash;
	__u32 length;
	__u64 text[V8_NAME_MAX / V8_WORD]; /* more may follow behind the length */
};

/* A search for names in what a map has. */
struct v8_names {
	__u64 at; /* of the next property */
	struct v8_name_text name;
	struct v8_kind kind;
	struct v8_shape shape;
};

/* A character of a literal, where it stands in the word that has it; 0 behind the end. */
#define V8_CHARACTER(literal, i)                                                                   \
	((i) < sizeof(literal) - 1                                                                 \
	     ? (__u64)(literal)[(i) < sizeof(literal) ? (i) : 0] << (i) % V8_WORD * 8              \
	     : 0)
/* Eight of them. */
#define V8_TEXT(literal, i)                                                                        \
	(V8_CHARACTER(literal, i) | V8_CHARACTER(literal, i + 1) | V8_CHARACTER(literal, i + 2) |  \
	 V8_CHARACTER(literal, i + 3) | V8_CHARACTER(literal, i + 4) |                             \
	 V8_CHARACTER(literal, i + 5) | V8_CHARACTER(literal, i + 6) |                             \
	 V8_CHARACTER(literal, i + 7))
#define V8_IS(name, literal)                                                                       \
	((name)->length == sizeof(literal) - 1 && v8_text(name, 0) == V8_TEXT(literal, 0) &&       \
	 v8_text(name, 1) == V8_TEXT(literal, V8_WORD))

/* A word of a name's text, with zeros behind its end. */
static __always_inline __u64 v8_text(const struct v8_name_text *name, __u32 word)
{
	__u32 left = name->length - word * V8_WORD;

	if (name->length <= word * V8_WORD)
		return 0;
	return left >= V8_WORD ? name->text[word] : name->text[word] & ((1ULL << left * 8) - 1);
}

/* Which one is it? V8_PROPERTIES_KNOWN: none. */
static __always_inline enum v8_property v8_property_of(const struct v8_name_text *name)
{
	if (V8_IS(name, "socket"))
		return V8_SOCKET;
	if (V8_IS(name, "_httpMessage"))
		return V8_MESSAGE;
	if (V8_IS(name, "_events"))
		return V8_EVENTS;
	if (V8_IS(name, "listener"))
		return V8_LISTENER;
	if (V8_IS(name, "response"))
		return V8_RESPONSE;
	if (V8_IS(name, "_currentRequest"))
		return V8_CURRENT;
	if (V8_IS(name, "client"))
		return V8_CLIENT;
	if (V8_IS(name, "handler"))
		return V8_HANDLER;
	if (V8_IS(name, "processResponse"))
		return V8_PROCESS;
	if (V8_IS(name, "resolve"))
		return V8_RESOLVE;
	if (V8_IS(name, "req"))
		return V8_REQ;
	if (V8_IS(name, "res"))
		return V8_RES;
	if (V8_IS(name, "raw"))
		return V8_RAW;
	return V8_PROPERTIES_KNOWN;
}

static __always_inline enum v8_property v8_property_of_symbol(const struct v8_name_text *name)
{
	if (V8_IS(name, "kHandle"))
		return V8_HANDLE;
	if (V8_IS(name, "owner_symbol"))
		return V8_OWNER;
	if (V8_IS(name, "parser"))
		return V8_PARSER;
	if (V8_IS(name, "queue"))
		return V8_QUEUE;
	if (V8_IS(name, "pending index"))
		return V8_PENDING;
	if (V8_IS(name, "handler"))
		return V8_HANDLER;
	return V8_PROPERTIES_KNOWN;
}

static __always_inline int v8_read_name(__u64 object, struct v8_name_text *ret_name)
{
	return v8_is_object(object) &&
	       !bpf_probe_read_user(ret_name, sizeof(*ret_name), (void *)(object - V8_TAG));
}

/* `name`: room for it. */
static __always_inline enum v8_property v8_property_named(__u64 object, struct v8_name_text *name)
{
	enum v8_property property;

	if (!v8_read_name(object, name))
		return V8_PROPERTIES_KNOWN;
	property = v8_property_of(name);
	if (property != V8_PROPERTIES_KNOWN)
		return property;
	if (!v8_read_name(name->text[0], name))
		return V8_PROPERTIES_KNOWN;
	return v8_property_of_symbol(name);
}

/* The place of a property with these details; 0: it is no field. */
static __always_inline __u32 v8_place(const struct v8_kind *kind, __u64 details)
{
	__u32 bits = v8_number(details), inside = kind->size - kind->start;
	__u32 index = bits >> V8_PLACE_SHIFT & V8_PLACE_MASK;

	if ((bits & V8_PLACE_DESCRIPTOR) || kind->size < kind->start)
		return 0;
	if (index < inside)
		return (kind->start + index) * V8_WORD;
	return V8_PLACE_OUTSIDE | (V8_ELEMENTS + (index - inside) * V8_WORD);
}

/* As a callback of bpf_loop(), which only takes what is on the stack. */
static long v8_look_at_property(__u32 index, struct v8_names **on_stack)
{
	struct v8_names *names = *on_stack;
	struct {
		__u64 name, details;
	} property;
	__u32 which;

	if (bpf_probe_read_user(&property, sizeof(property), (void *)names->at))
		return 1;
	names->at += 3 * V8_WORD;
	which = v8_property_named(property.name, &names->name);
	if (which < V8_PROPERTIES_KNOWN)
		names->shape.place[which] = v8_place(&names->kind, property.details);
	return 0;
}

/* What stands at a place of an object. */
static __always_inline __u64 v8_at(__u64 object, __u32 place)
{
	if (!place)
		return 0;
	if (!(place & V8_PLACE_OUTSIDE))
		return v8_word(object, place);
	return v8_word(v8_word(object, V8_PROPERTIES), place & ~V8_PLACE_OUTSIDE);
}

#define V8_KNOWN_MAX 32 /* a power of two */

/* What is known of objects with a map. */
struct v8_known {
	__u64 map;
	__u16 type;
	__u16 shaped; /* 1: it is known where they have properties */
	__u32 look;   /* by which look */
	__u16 place[V8_PROPERTIES_MAX];
};

/* A look at objects of a process, whose maps are few: until it goes on, they stay what they are. */
struct v8_look {
	struct v8_known known[V8_KNOWN_MAX];
	__u32 tgid;
	__u32 number;
	struct v8_names names; /* (stacks have little room) */
};

static __always_inline void v8_look_begin(struct v8_look *look, __u32 tgid)
{
	look->tgid = tgid;
	look->number++;
}

static __always_inline struct v8_known *v8_know(struct v8_look *look, __u64 map)
{
	struct v8_known *known = &look->known[(map >> 3) & (V8_KNOWN_MAX - 1)];

	if (known->map != map || known->look != look->number) {
		known->map = map;
		known->look = look->number;
		known->type = v8_kind_of_map(map).type;
		known->shaped = 0;
	}
	return known;
}

/* The type of an object; 0: it is none. */
VERIFIED_ALONE __u32 v8_type_of(struct v8_look *look, __u64 object)
{
	__u64 map = v8_map(object);

	return look && map ? v8_know(look, map)->type : 0;
}

/* Zeros: what a new entry starts from, since there is no room on the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct v8_shape);
} blank_v8_shape __weak SEC(".maps");

#ifdef ENGINE_ASKS
#define V8_ASKED_SHAPES 512 /* a power of two */

struct v8_asked_shape {
	struct process_address key;
	struct v8_shape shape;
};

/* What programs that only ask have learnt themselves, by CPU: they run with interrupts off. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, V8_ASKED_SHAPES);
	__type(key, __u32);
	__type(value, struct v8_asked_shape);
} v8_asked_shapes SEC(".maps");

/* The place for what is learnt of a map. */
static __always_inline struct v8_asked_shape *v8_asked_place(const struct process_address *key)
{
	__u32 place = ((__u32)(key->address >> 3) ^ key->tgid) & (V8_ASKED_SHAPES - 1);

	return bpf_map_lookup_elem(&v8_asked_shapes, &place);
}

static __always_inline const struct v8_shape *v8_kept_shape(const struct process_address *key)
{
	const struct v8_shape *shape = v8_shapes_lookup(key);
	const struct v8_asked_shape *own;

	if (shape)
		return shape;
	own = v8_asked_place(key);
	if (!own || own->key.tgid != key->tgid || own->key.address != key->address)
		return NULL;
	return &own->shape;
}

static __always_inline void v8_keep_shape(const struct process_address *key,
					  const struct v8_shape *learnt)
{
	struct v8_asked_shape *own = v8_asked_place(key);

	if (!own)
		return;
	own->key = *key;
	own->shape = *learnt;
}
#else
static __always_inline const struct v8_shape *v8_kept_shape(const struct process_address *key)
{
	return v8_shapes_lookup(key);
}

/*
 * Keep what was learnt. It is good from when its descriptors are there: who looks before learns it,
 * too.
 */
static __always_inline void v8_keep_shape(const struct process_address *key,
					  const struct v8_shape *learnt)
{
	struct v8_shape *shape;
	__u32 zero = 0;

	shape = bpf_map_lookup_elem(&blank_v8_shape, &zero);
	if (!shape || v8_shapes_set(key, shape))
		return;
	shape = v8_shapes_lookup(key);
	if (!shape)
		return;
	__builtin_memcpy(shape->place, learnt->place, sizeof(shape->place));
	barrier();
	shape->descriptors = learnt->descriptors;
}
#endif

/* Look for names in the map, and note where they are. `key`: of v8_shapes. */
static __always_inline void v8_learn_shape(struct v8_names *names,
					   const struct process_address *key)
{
	__u64 map = key->address;
	__u32 counts = v8_word(map, V8_MAP_COUNTS), own = counts >> V8_OWN_SHIFT & V8_OWN_MASK;

	names->kind = v8_kind_of_map(map);
	names->shape = (struct v8_shape){.descriptors = v8_word(map, V8_MAP_DESCRIPTORS)};
	names->at = names->shape.descriptors - V8_TAG + V8_DESCRIPTORS;
	if (!(counts & V8_DICTIONARY) && v8_is_object(names->shape.descriptors))
		bpf_loop(own < V8_DESCRIPTORS_MAX ? own : V8_DESCRIPTORS_MAX, v8_look_at_property,
			 &names, 0);
	v8_keep_shape(key, &names->shape);
}

/* Where have objects with this map their properties? */
VERIFIED_ALONE int v8_find_shape(struct v8_look *look, __u64 map)
{
	struct v8_known *known = look ? v8_know(look, map) : NULL;
	struct process_address key = {.tgid = look ? look->tgid : 0, .address = map};
	const struct v8_shape *shape;
	struct v8_names *names;

	if (!known)
		return 0;
	names = &look->names;
	shape = v8_kept_shape(&key);
	/* Another map may stand there by now. */
	if (!shape || shape->descriptors != v8_word(map, V8_MAP_DESCRIPTORS)) {
		v8_learn_shape(names, &key);
		shape = &names->shape;
	}
	__builtin_memcpy(known->place, shape->place, sizeof(shape->place));
	known->shaped = 1;
	return 0;
}

/* A property of an object; 0: it has none of that name. */
VERIFIED_ALONE __u64 v8_property(struct v8_look *look, __u64 object, __u32 which)
{
	__u64 map = v8_map(object);
	struct v8_known *known;

	if (!look || !v8_is_object(map) || which >= V8_PROPERTIES_KNOWN)
		return 0;
	known = v8_know(look, map);
	if (!known->shaped)
		v8_find_shape(look, map);
	barrier_var(which); /* the verifier has forgotten what it is below */
	return v8_at(object, known->place[which & (V8_PROPERTIES_MAX - 1)]);
}

#endif
