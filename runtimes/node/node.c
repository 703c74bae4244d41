// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "runtimes/node/node.h"
#include "runtimes/node/v8.h"

#define TIMERS  "_ZN4node11Environment9RunTimersEP10uv_timer_s"
#define READS   "_ZN4node15LibuvStreamWrap8OnUvReadElPK8uv_buf_t"
#define LATER   "_ZN4node11Environment14CheckImmediateEP10uv_check_s"
#define ACCEPTS "_ZN4node14ConnectionWrapINS_7TCPWrapE8uv_tcp_sE12OnConnectionEP11uv_stream_si"
#define INSTANTIATES                                                                               \
	"_ZN4node7TCPWrap11InstantiateEPNS_11EnvironmentEPNS_9AsyncWrapENS0_10SocketTypeE"
#define MESSAGES "_ZN4node6worker11MessagePort9OnMessageENS1_21MessageProcessingModeE"
#define POSTS    "_ZN4node6worker15MessagePortData18AddToIncomingQueueESt10shared_ptrINS0_7MessageEE"
#define READS_MESSAGE                                                                              \
	"_ZN4node6worker7Message11DeserializeEPNS_11EnvironmentEN2v85LocalINS4_7ContextEEEPNS5_"   \
	"INS4_5ValueEEE"
#define LOOP   "uv_run"
#define WRITES "_ZN4node15LibuvStreamWrap10DoTryWriteEPP8uv_buf_tPm"
/* The same for who has a StreamResource: a jump there, or a function of its own. */
#define WRITES_OF_RESOURCE "_ZThn88_N4node15LibuvStreamWrap10DoTryWriteEPP8uv_buf_tPm"
#define JUMP_MAX           24 /* bytes */
#define V8_WORD            8  /* bytes */

const struct subject_wanted node_wanted[NODE_WANTED] = {
    [NODE_LIBUV] = {.prefix = "libuv.so"}, [NODE_LIBNODE] = {.prefix = "libnode.so"}};

/* The file that Node, or libuv, is in, and how far it was moved. */
struct part {
	struct elf_image *image;
	__u32 file;
	__u64 bias;
};

/* Where it is in the process that was loaded `bias` above what the image says. */
static int find_range(struct elf_image *image, __u64 bias, const char *name,
		      struct runtime_range *ret_range)
{
	int err = elf_image_symbol_range(image, name, &ret_range->start, &ret_range->end);

	ret_range->start += bias;
	ret_range->end += bias;
	return err;
}

/* The same for what does not have to be known. */
static void find_range_if_any(struct elf_image *image, __u64 bias, const char *name,
			      struct runtime_range *ret_range)
{
	if (find_range(image, bias, name, ret_range))
		*ret_range = (struct runtime_range){};
}

/* What writes a stream; zeros where it is not known. */
static void find_writes(struct elf_image *image, __u64 bias, struct runtime_range *ret_range)
{
	struct runtime_range range = {};

	if (find_range(image, bias, WRITES_OF_RESOURCE, &range) ||
	    range.end - range.start <= JUMP_MAX)
		find_range_if_any(image, bias, WRITES, &range);
	*ret_range = range;
}

/* Where bytecode begins, and where the names are that it uses. */
static void look_at_code(struct elf_image *image, struct runtime_v8 *v8)
{
	static const struct {
		__u8 code, pool;
	} known[] = {{56, 16}, {54, 16}, {64, 40}}; /* V8 10.2, 11.3, since 12 */
	__u32 code = v8_published(image, "class_BytecodeArray__data__uintptr_t");

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].code != code)
			continue;
		v8->code = known[i].code;
		v8->pool = known[i].pool;
	}
}

/* What V8 is like; zeros if it is not known. */
static void look_at_v8(struct elf_image *image, struct runtime_v8 *ret_v8)
{
	struct runtime_v8 v8 = {
	    .object = v8_published(image, "type_JSObject__JS_OBJECT_TYPE"),
	    .array = v8_published(image, "type_JSArray__JS_ARRAY_TYPE"),
	    .function = v8_published(image, "type_JSFunction__JS_FUNCTION_TYPE"),
	    .bound = v8_published(image, "type_JSBoundFunction__JS_BOUND_FUNCTION_TYPE"),
	    .promise = v8_published(image, "type_JSPromise__JS_PROMISE_TYPE"),
	    .reaction = v8_published(image, "type_PromiseReaction__PROMISE_REACTION_TYPE"),
	    .capability = v8_published(image, "type_PromiseCapability__PROMISE_CAPABILITY_TYPE"),
	    .async =
		v8_published(image, "type_JSAsyncFunctionObject__JS_ASYNC_FUNCTION_OBJECT_TYPE"),
	    .bytecode = v8_published(image, "type_BytecodeArray__BYTECODE_ARRAY_TYPE"),
	    .contexts_first = v8_published(image, "FirstContextType"),
	    .contexts_last = v8_published(image, "LastContextType"),
	    .context = v8_published(image, "class_JSFunction__context__Context"),
	    .shared = v8_published(image, "class_JSFunction__shared__SharedFunctionInfo"),
	    .parameters = v8_published(
		image, "class_SharedFunctionInfo__internal_formal_parameter_count__uint16_t"),
	    .locals = V8_WORD + V8_WORD * v8_published(image, "scopeinfo_idx_first_vars"),
	};

	if (v8_published(image, "TaggedSize") != V8_WORD)
		return; /* pointers are compressed */
	look_at_code(image, &v8);
	if (v8.array && v8.function && v8.bound && v8.promise && v8.reaction && v8.capability &&
	    v8.async && v8.bytecode && v8.contexts_first && v8.contexts_last && v8.context &&
	    v8.shared && v8.parameters)
		*ret_v8 = v8;
}

/* What threads of JavaScript post to each other. */
static void look_for_messages(const struct part *part, struct node *node)
{
	__u64 posts, reads;

	find_range_if_any(part->image, part->bias, MESSAGES, &node->runtime.node.messages);
	if (elf_image_symbol(part->image, POSTS, &posts) ||
	    elf_image_symbol(part->image, READS_MESSAGE, &reads))
		return;
	probe_sites_add(&node->sites, part->image, part->file, NODE_POSTS, posts);
	probe_sites_add(&node->sites, part->image, part->file, NODE_MESSAGES, reads);
}

static int look_at_node(const struct part *part, struct node *node)
{
	struct runtime_node *places = &node->runtime.node;
	struct elf_image *image = part->image;
	__u64 bias = part->bias;
	int err = elf_image_machine(image) == EM_X86_64 ? 0 : -ENOENT;

	if (!err)
		err = find_range(image, bias, TIMERS, &places->timers);
	if (!err)
		err = find_range(image, bias, READS, &places->reads);
	if (!err)
		find_writes(image, bias, &places->writes);
	if (!err)
		err = find_range(image, bias, LATER, &places->later);
	find_range_if_any(image, bias, ACCEPTS, &places->accepts);
	find_range_if_any(image, bias, INSTANTIATES, &places->instantiates);
	look_for_messages(part, node);
	look_at_v8(image, &places->v8);
	return err ? err
		   : probe_sites_add(&node->sites, image, part->file, NODE_LATER,
				     places->later.start - bias);
}

/* Functions that no library exports: they are known where Node has libuv in itself. */
static void look_for_work(const struct part *part, struct node *node)
{
	static const char *const functions[NODE_POSTS] = {
	    [NODE_WORK] = "uv__work_submit",       [NODE_QUEUES] = "uv_queue_work",
	    [NODE_DONE] = "uv__queue_done",        [NODE_FILES] = "uv__fs_done",
	    [NODE_NAMES] = "uv__getaddrinfo_done", [NODE_SERVICES] = "uv__getnameinfo_done",
	    [NODE_RANDOM] = "uv__random_done",
	};
	__u64 address;

	for (__u32 i = NODE_WORK; i < NODE_POSTS; i++)
		if (!elf_image_own_function(part->image, functions[i], &address))
			probe_sites_add(&node->sites, part->image, part->file, i, address);
}

static int look_at_libuv(const struct part *part, struct node *node)
{
	static const char *const functions[] = {
	    [NODE_MADE] = "uv_tcp_init",
	    [NODE_CONNECTS] = "uv_tcp_connect",
	    [NODE_CLOSES] = "uv_close",
	};
	int err = find_range(part->image, part->bias, LOOP, &node->runtime.node.loop);
	__u64 address;

	for (__u32 i = 0; !err && i < NODE_LATER; i++) {
		err = elf_image_symbol(part->image, functions[i], &address);
		if (!err)
			err = probe_sites_add(&node->sites, part->image, part->file, i, address);
	}
	if (!err)
		look_for_work(part, node);
	return err;
}

/* It is in the program itself. */
static int open_program(const struct subject *subject, struct elf_image *image,
			struct part *ret_part)
{
	*ret_part = (struct part){.image = image, .file = SUBJECT_PROGRAM};
	return library_program_bias(subject, elf_image_entry(image), &ret_part->bias);
}

static struct part part_of(const struct library *library)
{
	return (struct part){.image = library->image, .file = library->file, .bias = library->bias};
}

static int open_node(const struct subject *subject, struct elf_image *image, struct node *node)
{
	_cleanup_library_ struct library library = {};
	struct part part;
	__u64 address;
	int err;

	if (!elf_image_symbol(image, TIMERS, &address)) {
		err = open_program(subject, image, &part);
	} else {
		err = library_open(subject, node_wanted[NODE_LIBNODE].prefix, &library);
		part = part_of(&library);
	}
	return err ? err : look_at_node(&part, node);
}

/*
 * Where the library keeps no frame pointers, frames lead no further than to where it calls back,
 * which it does nowhere but below uv_run: then that is all of its code.
 */
static void widen_loop(struct elf_image *image, __u64 bias, struct runtime_range *loop)
{
	static const __u8 keeps[] = {0x55, 0x48, 0x89, 0xe5}; /* push %rbp; mov %rsp,%rbp */
	static const __u8 endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	__u64 at = loop->start - bias;
	struct elf_section code;

	if (elf_image_section(image, ".text", &code) || at < code.address ||
	    code.size < sizeof(endbr) + sizeof(keeps) ||
	    at - code.address > code.size - sizeof(endbr) - sizeof(keeps))
		return;
	at -= code.address;
	if (!memcmp(code.data + at, endbr, sizeof(endbr)))
		at += sizeof(endbr);
	if (memcmp(code.data + at, keeps, sizeof(keeps)) != 0)
		*loop = (struct runtime_range){.start = code.address + bias,
					       .end = code.address + code.size + bias};
}

static int look_at_library(const struct subject *subject, enum node_file file, struct node *node)
{
	_cleanup_library_ struct library library = {};
	int err = library_open(subject, node_wanted[file].prefix, &library);
	struct part part = part_of(&library);

	if (!err)
		err = look_at_libuv(&part, node);
	if (!err && file == NODE_LIBUV)
		widen_loop(library.image, library.bias, &node->runtime.node.loop);
	return err;
}

/* In the program, in a library of its own, or in that of Node. */
static int open_libuv(const struct subject *subject, struct elf_image *image, struct node *node)
{
	struct part part;
	__u64 address;
	int err;

	if (!elf_image_symbol(image, LOOP, &address)) {
		err = open_program(subject, image, &part);
		return err ? err : look_at_libuv(&part, node);
	}
	err = look_at_library(subject, NODE_LIBUV, node);
	return err == -ENOENT ? look_at_library(subject, NODE_LIBNODE, node) : err;
}

int node_inspect(const struct subject *subject, struct elf_image *image, struct node *ret_node)
{
	int err;

	*ret_node = (struct node){.runtime = {.kind = RUNTIME_NODE}};
	err = open_node(subject, image, ret_node);
	return err ? err : open_libuv(subject, image, ret_node);
}
