// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>

#include "runtimes/java/hotspot.h"
#include "runtimes/java/java.h"
#include "inspect/library.h"
#include "inspect/process_memory.h"

#define THREADS_MAX   16  /* that are looked at until one is found as it should be */
#define VARIABLES_MAX 256 /* bytes of the virtual machine's thread-local variables */
/* glibc on x86-64: struct pthread has the address of an array of TLS blocks, 16 bytes each. */
#define THREAD_BLOCKS 8
#define BLOCK_SIZE    16

#define CONCURRENT "java/util/concurrent/"
#define CLIENT     "jdk/internal/net/http/"

const struct subject_wanted java_wanted[JAVA_WANTED] = {{.prefix = "libjvm.so", .memory = true}};

enum class_index {
	THREAD,
	HOLDER,
	STRING,
	FUTURE,
	WAITER,
	CHANNEL,
	INTERRUPTIBLE,
	ENUM,
	REFERENCE,
	COMPLETABLE,
	SIGNALLER,
	RUN,
	SUPPLY,
	MINIMAL,
	CANCELABLE,
	POOL,
	POOL_ABORT,
	FORKS,
	EACH,
	HTTP_CALL,
	HTTP_EXECUTOR,
	HTTP_CONNECTION,
	HTTP_EXCHANGE,
	HTTP_EXCHANGE_OWNER,
	HTTP_EXCHANGE_BASE,
	HTTP_PUBLISHER,
	HTTP_TASK,
	CLASSES,
};

static const char *const class_name[CLASSES] = {
    [THREAD] = "java/lang/Thread",
    [HOLDER] = "java/lang/Thread$FieldHolder",
    [STRING] = "java/lang/String",
    [FUTURE] = CONCURRENT "FutureTask",
    [WAITER] = CONCURRENT "FutureTask$WaitNode",
    [CHANNEL] = "sun/nio/ch/SocketChannelImpl",
    [INTERRUPTIBLE] = "java/nio/channels/spi/AbstractInterruptibleChannel",
    [ENUM] = "java/lang/Enum",
    [REFERENCE] = "java/lang/ref/Reference",
    [COMPLETABLE] = CONCURRENT "CompletableFuture",
    [SIGNALLER] = CONCURRENT "CompletableFuture$Signaller",
    [RUN] = CONCURRENT "CompletableFuture$AsyncRun",
    [SUPPLY] = CONCURRENT "CompletableFuture$AsyncSupply",
    [MINIMAL] = CLIENT "common/MinimalFuture",
    [CANCELABLE] = CLIENT "MultiExchange$CancelableRef",
    [POOL] = CONCURRENT "ThreadPoolExecutor",
    [POOL_ABORT] = CONCURRENT "ThreadPoolExecutor$AbortPolicy",
    [FORKS] = CONCURRENT "ForkJoinPool",
    [EACH] = CONCURRENT "ThreadPerTaskExecutor",
    [HTTP_CALL] = CLIENT "MultiExchange",
    [HTTP_EXECUTOR] = CLIENT "HttpClientImpl$DelegatingExecutor",
    [HTTP_CONNECTION] = CLIENT "PlainHttpConnection",
    [HTTP_EXCHANGE] = CLIENT "Http1Exchange",
    [HTTP_EXCHANGE_OWNER] = CLIENT "Exchange",
    [HTTP_EXCHANGE_BASE] = CLIENT "ExchangeImpl",
    [HTTP_PUBLISHER] = CLIENT "Http1Exchange$Http1Publisher",
    [HTTP_TASK] = CLIENT "Http1Exchange$Http1Publisher$WriteTask",
};

/* Fields of objects, and where struct runtime_java has their offsets. */
static const struct object_field {
	enum class_index class;
	bool may_be_absent;
	const char *name;
	size_t to;
} object_field[] = {
    {THREAD, false, "eetop", offsetof(struct runtime_java, native)},
    {THREAD, false, "tid", offsetof(struct runtime_java, number)},
    {THREAD, false, "parkBlocker", offsetof(struct runtime_java, blocker)},
    {THREAD, true, "target", offsetof(struct runtime_java, task)},
    {THREAD, true, "holder", offsetof(struct runtime_java, holder)},
    {HOLDER, false, "task", offsetof(struct runtime_java, task)},
    {FUTURE, false, "runner", offsetof(struct runtime_java, runner)},
    {FUTURE, false, "waiters", offsetof(struct runtime_java, waiters)},
    {FUTURE, true, "callable", offsetof(struct runtime_java, callable)},
    {WAITER, false, "thread", offsetof(struct runtime_java, waiter)},
    {CHANNEL, false, "fdVal", offsetof(struct runtime_java, descriptor)},
    {INTERRUPTIBLE, true, "closed", offsetof(struct runtime_java, client.closed)},
    {ENUM, true, "ordinal", offsetof(struct runtime_java, client.ordinal)},
    {REFERENCE, true, "referent", offsetof(struct runtime_java, client.referent)},
    {RUN, true, "dep", offsetof(struct runtime_java, job_future)},
    {SUPPLY, true, "dep", offsetof(struct runtime_java, job_future)},
    {COMPLETABLE, true, "stack", offsetof(struct runtime_java, client.stack)},
    {COMPLETABLE, true, "result", offsetof(struct runtime_java, result)},
    {MINIMAL, true, "cancelable", offsetof(struct runtime_java, client.cancelable)},
    {CANCELABLE, true, "cancelableRef", offsetof(struct runtime_java, client.reference)},
    {POOL, true, "handler", offsetof(struct runtime_java, client.handler)},
    {HTTP_CALL, true, "executor", offsetof(struct runtime_java, client.executor)},
    {HTTP_CALL, true, "exchange", offsetof(struct runtime_java, client.made)},
    {HTTP_EXCHANGE_OWNER, true, "exchImpl", offsetof(struct runtime_java, client.implemented)},
    {HTTP_EXECUTOR, true, "delegate", offsetof(struct runtime_java, client.delegate)},
    {HTTP_CONNECTION, true, "chan", offsetof(struct runtime_java, client.channel)},
    {HTTP_EXCHANGE, true, "connection", offsetof(struct runtime_java, client.connection)},
    {HTTP_EXCHANGE, true, "state", offsetof(struct runtime_java, client.state)},
    {HTTP_EXCHANGE_OWNER, true, "multi", offsetof(struct runtime_java, client.multi)},
    {HTTP_EXCHANGE_BASE, true, "exchange", offsetof(struct runtime_java, client.owner)},
    {HTTP_PUBLISHER, true, "this$0", offsetof(struct runtime_java, client.exchange)},
    {HTTP_TASK, true, "this$1", offsetof(struct runtime_java, client.publisher)},
};

#define OBJECT_FIELDS (sizeof(object_field) / sizeof(object_field[0]))

/* The virtual machine of a process, and the classes that it has loaded. */
struct machine {
	struct hotspot hotspot;
	struct hotspot_class class[CLASSES];
	__u32 name; /* Thread.name */
};

static void find_classes(struct machine *machine)
{
	for (int i = 0; i < CLASSES; i++)
		machine->class[i] = (struct hotspot_class){.name = class_name[i]};
	hotspot_classes(&machine->hotspot, machine->class, CLASSES);
}

/* Fields of the classes that are loaded. 0 or -ENOTSUP: some class has not what it should. */
static int find_fields(struct machine *machine, struct runtime_java *java)
{
	const struct hotspot *hotspot = &machine->hotspot;
	const struct hotspot_class *class = machine->class;
	__u32 offset;

	if (!class[THREAD].address || !class[STRING].address ||
	    hotspot_field(hotspot, class[THREAD].address, "name", &machine->name))
		return -ENOTSUP;
	for (size_t i = 0; i < OBJECT_FIELDS; i++) {
		const struct object_field *field = &object_field[i];

		if (!class[field->class].address)
			continue;
		if (!hotspot_field(hotspot, class[field->class].address, field->name, &offset))
			*(__u16 *)((char *)java + field->to) = (__u16)offset;
		else if (!field->may_be_absent)
			return -ENOTSUP;
	}
	return 0;
}

/* An address that is kept in 32 bits. */
static __u64 decode(const struct hotspot *hotspot, __u64 base, __u64 shift, __u64 where)
{
	return process_memory_u64(hotspot->fd, base) +
	       ((__u64)process_memory_u32(hotspot->fd, where)
		<< process_memory_u32(hotspot->fd, shift));
}

/*
 * Is this the object of a thread, as it should be? Its name tells whether addresses are kept in 32
 * bits, in the way that is known.
 */
static bool object_is_right(const struct machine *machine, const struct runtime_java *java,
			    __u64 object, __u64 thread)
{
	const struct hotspot *hotspot = &machine->hotspot;
	__u64 name =
	    decode(hotspot, hotspot->narrow_base, hotspot->narrow_shift, object + machine->name);

	return hotspot_class_of(hotspot, object) == machine->class[THREAD].address &&
	       process_memory_u64(hotspot->fd, object + java->native) == thread &&
	       hotspot_class_of(hotspot, name) == machine->class[STRING].address;
}

/* Where, in the block of thread-local variables, a thread has its own address. 0, or -ENOENT. */
static int find_variable(const struct hotspot *hotspot, __u64 thread, struct runtime_java *java)
{
	__u64 native = process_memory_u64(hotspot->fd, thread + hotspot->thread_native);
	__u64 pointer = process_memory_u64(hotspot->fd, native + hotspot->native_pthread);
	__u64 blocks = process_memory_u64(hotspot->fd, pointer + THREAD_BLOCKS);
	__u64 module = process_memory_u64(hotspot->fd, java->slot);
	__u64 block = process_memory_u64(hotspot->fd, blocks + module * BLOCK_SIZE);

	for (__u16 at = 0; block && at < VARIABLES_MAX; at += sizeof(__u64)) {
		if (process_memory_u64(hotspot->fd, block + at) != thread)
			continue;
		java->variable = at;
		return 0;
	}
	return -ENOENT;
}

/* Some thread of the process must look as it should. 0 or -ENOTSUP. */
static int look_at_threads(const struct machine *machine, struct runtime_java *java)
{
	const struct hotspot *hotspot = &machine->hotspot;
	__u64 list = process_memory_u64(hotspot->fd, hotspot->thread_list);
	__u64 array = process_memory_u64(hotspot->fd, list + hotspot->threads_array);
	__u32 count = process_memory_u32(hotspot->fd, list + hotspot->threads_length);

	for (__u32 i = 0; i < count && i < THREADS_MAX; i++) {
		__u64 thread = process_memory_u64(hotspot->fd, array + i * sizeof(thread));
		__u64 handle = process_memory_u64(hotspot->fd, thread + hotspot->thread_object);
		__u64 object = process_memory_u64(hotspot->fd, handle);

		if (object_is_right(machine, java, object, thread) &&
		    !find_variable(hotspot, thread, java))
			return 0;
	}
	return -ENOTSUP;
}

/* The address of a class in 32 bits, as objects have it; 0: it is not loaded. */
static __u32 narrow_class(const struct machine *machine, enum class_index class)
{
	const struct hotspot *hotspot = &machine->hotspot;
	__u64 address = machine->class[class].address;
	__u64 base = process_memory_u64(hotspot->fd, hotspot->class_base);

	return address ? (__u32)((address - base) >>
				 process_memory_u32(hotspot->fd, hotspot->class_shift))
		       : 0;
}

static void fill_places(const struct hotspot *hotspot, struct runtime_java *java)
{
	__u64 buffer = hotspot->thread_buffer;

	java->heap = process_memory_u64(hotspot->fd, hotspot->narrow_base);
	java->heap_shift = process_memory_u16(hotspot->fd, hotspot->narrow_shift);
	java->object = (__u16)hotspot->thread_object;
	if (hotspot->thread_virtual != HOTSPOT_ABSENT)
		java->virtual_object = (__u16)hotspot->thread_virtual;
	java->stack = (__u16)hotspot->thread_stack;
	java->buffer_start = (__u16)(buffer + hotspot->buffer_start);
	java->buffer_top = (__u16)(buffer + hotspot->buffer_top);
	java->frames = (__u16)(hotspot->thread_anchor + hotspot->anchor_stack);
	java->enters = (__u16)hotspot->thread_enters;
	java->waits = (__u16)hotspot->thread_waits;
	java->class = (__u16)hotspot->object_class;
	java->classes = process_memory_u64(hotspot->fd, hotspot->class_base);
	java->class_shift = process_memory_u16(hotspot->fd, hotspot->class_shift);
	java->layout = (__u16)hotspot->class_layout;
	java->code = process_memory_u64(hotspot->fd, hotspot->code_low);
	java->collections =
	    process_memory_u64(hotspot->fd, hotspot->heap) + hotspot->heap_collections;
	java->code_size = (__u32)(process_memory_u64(hotspot->fd, hotspot->code_high) - java->code);
}

/* Was all found that is looked at? (A Signaller is there when somebody has waited.) */
static bool has_client(const struct java_client *client)
{
	return client->exchange_class && client->publisher_class && client->task_class &&
	       client->future_class && client->publisher && client->exchange && client->state &&
	       client->ordinal && client->connection && client->channel && client->closed &&
	       client->owner && client->multi && client->stack && client->cancelable &&
	       client->reference && client->referent && client->executor && client->delegate &&
	       client->made && client->implemented;
}

static void fill_client(const struct machine *machine, struct java_client *client)
{
	client->exchange_class = narrow_class(machine, HTTP_EXCHANGE);
	client->publisher_class = narrow_class(machine, HTTP_PUBLISHER);
	client->task_class = narrow_class(machine, HTTP_TASK);
	client->future_class = narrow_class(machine, MINIMAL);
	client->signaller_class = narrow_class(machine, SIGNALLER);
	client->pool_class = narrow_class(machine, POOL);
	client->abort_class = narrow_class(machine, POOL_ABORT);
	client->forks_class = narrow_class(machine, FORKS);
	client->each_class = narrow_class(machine, EACH);
	if (!has_client(client))
		*client = (struct java_client){.signaller_class = client->signaller_class,
					       .stack = client->stack};
}

/* The class of jobs of CompletableFuture in 32 bits; 0: their future is not at java->job_future. */
static __u32 job_class(const struct machine *machine, enum class_index class,
		       const struct runtime_java *java)
{
	__u64 address = machine->class[class].address;
	__u32 offset;

	if (!address || hotspot_field(&machine->hotspot, address, "dep", &offset) ||
	    offset != java->job_future)
		return 0;
	return narrow_class(machine, class);
}

/* Jobs that CompletableFuture has others do. */
static void fill_jobs(const struct machine *machine, struct runtime_java *java)
{
	const struct hotspot *hotspot = &machine->hotspot;
	__u64 future = machine->class[COMPLETABLE].address;

	if (!future || !java->result || !java->client.stack || !java->job_future)
		return;
	java->completable_size =
	    (__u16)process_memory_u32(hotspot->fd, future + hotspot->class_layout);
	java->run_class = job_class(machine, RUN, java);
	java->supply_class = job_class(machine, SUPPLY, java);
}

static int look_at_machine(struct machine *machine, struct runtime_java *java)
{
	int err;

	find_classes(machine);
	err = find_fields(machine, java);
	if (!err)
		err = look_at_threads(machine, java);
	if (err)
		return err;
	fill_places(&machine->hotspot, java);
	java->future_class = narrow_class(machine, FUTURE);
	java->channel_class = narrow_class(machine, CHANNEL);
	fill_client(machine, &java->client);
	fill_jobs(machine, java);
	return 0;
}

static int look_at_library(const struct subject *subject, const struct library *library,
			   struct runtime_java *java, enum why *ret_why)
{
	struct elf_image *image = library->image;
	struct hotspot_tables tables;
	struct machine machine;

	*ret_why = WHY_PROCESSOR;
	if (elf_image_machine(image) != EM_X86_64)
		return -ENOTSUP;
	*ret_why = WHY_JAVA_MACHINE;
	if (elf_image_named_relocation(image, R_X86_64_DTPMOD64, "", &java->slot))
		return -ENOTSUP;
	java->slot += library->bias;
	hotspot_find(image, &tables);
	if (hotspot_open(subject->memory_fd, &tables, library->bias, &machine.hotspot) ||
	    look_at_machine(&machine, java))
		return -ENOTSUP;
	*ret_why = WHY_NONE;
	return 0;
}

int java_inspect(const struct subject *subject, struct runtime *ret_runtime, enum why *ret_why)
{
	_cleanup_library_ struct library library = {};
	int err = library_open(subject, java_wanted[0].prefix, &library);

	if (err)
		return err;
	*ret_runtime = (struct runtime){.kind = RUNTIME_JAVA};
	err = look_at_library(subject, &library, &ret_runtime->java, ret_why);
	if (err)
		ret_runtime->java = (struct runtime_java){};
	return err;
}
