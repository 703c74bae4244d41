// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>
#include <string.h>

#include "pretended_java.h"

#define CLASS_BASE 4096 /* bytes before the classes */
#define TAG_BITS   2    /* of a field's offset */
#define CONCURRENT "java/util/concurrent/"
#define CLIENT     "jdk/internal/net/http/"
#define NOTHING    "", JAVA_NUMBER

enum class_index {
	COMPLETABLE = JAVA_ENUM + 1,
	RUN, /* behind its future */
	SUPPLY,
	SIGNALLER,
	INTERRUPTIBLE,
	REFERENCE,
	MINIMAL,
	CANCELABLE,
	POOL,
	POOL_ABORT,
	FORKS,
	EACH,
	CALL,
	EXECUTOR,
	CONNECTION,
	EXCHANGE,
	EXCHANGE_OWNER,
	EXCHANGE_BASE,
	PUBLISHER,
	TASK,
	CLASSES,
};
_Static_assert(CLASSES == JAVA_CLASSES, "pretended_java.h says how many");

/* Fields that a class has of another one stand where that has them. */
static const struct {
	const char *name;
	struct {
		const char *name;
		int refers;
	} field[JAVA_FIELDS];
} classes[CLASSES] = {
    [JAVA_THREAD] = {"java/lang/Thread",
		     {{"eetop", JAVA_NUMBER},
		      {"tid", JAVA_NUMBER},
		      {"parkBlocker", JAVA_FUTURE},
		      {"target", RUN},
		      {"name", JAVA_STRING}}},
    [JAVA_STRING] = {"java/lang/String", {{NOTHING}}},
    [JAVA_FUTURE] = {CONCURRENT "FutureTask",
		     {{"runner", JAVA_THREAD}, {"waiters", JAVA_WAITER}, {"callable", RUN}}},
    [JAVA_WAITER] = {CONCURRENT "FutureTask$WaitNode", {{"thread", JAVA_THREAD}}},
    [JAVA_CHANNEL] = {"sun/nio/ch/SocketChannelImpl", {{"fdVal", JAVA_NUMBER}}},
    [JAVA_ENUM] = {"java/lang/Enum", {{"ordinal", JAVA_NUMBER}}},
    [COMPLETABLE] = {CONCURRENT "CompletableFuture",
		     {{"stack", SIGNALLER}, {"result", JAVA_NUMBER}}},
    [RUN] = {CONCURRENT "CompletableFuture$AsyncRun", {{"dep", JAVA_NUMBER}}},
    [SUPPLY] = {CONCURRENT "CompletableFuture$AsyncSupply", {{"dep", JAVA_NUMBER}}},
    [SIGNALLER] = {CONCURRENT "CompletableFuture$Signaller", {{NOTHING}}},
    [INTERRUPTIBLE] = {"java/nio/channels/spi/AbstractInterruptibleChannel",
		       {{NOTHING}, {"closed", JAVA_NUMBER}}},
    [REFERENCE] = {"java/lang/ref/Reference", {{"referent", CALL}}},
    [MINIMAL] = {CLIENT "common/MinimalFuture",
		 {{"", SIGNALLER}, {NOTHING}, {"cancelable", CANCELABLE}}},
    [CANCELABLE] = {CLIENT "MultiExchange$CancelableRef", {{"cancelableRef", REFERENCE}}},
    [POOL] = {CONCURRENT "ThreadPoolExecutor", {{"handler", POOL_ABORT}}},
    [POOL_ABORT] = {CONCURRENT "ThreadPoolExecutor$AbortPolicy", {{NOTHING}}},
    [FORKS] = {CONCURRENT "ForkJoinPool", {{NOTHING}}},
    [EACH] = {CONCURRENT "ThreadPerTaskExecutor", {{NOTHING}}},
    [CALL] = {CLIENT "MultiExchange", {{"executor", EXECUTOR}, {"exchange", EXCHANGE_OWNER}}},
    [EXECUTOR] = {CLIENT "HttpClientImpl$DelegatingExecutor", {{"delegate", FORKS}}},
    [CONNECTION] = {CLIENT "PlainHttpConnection", {{"chan", JAVA_CHANNEL}}},
    [EXCHANGE] = {CLIENT "Http1Exchange",
		  {{"connection", CONNECTION}, {"state", JAVA_ENUM}, {"", EXCHANGE_OWNER}}},
    [EXCHANGE_OWNER] = {CLIENT "Exchange", {{"exchImpl", EXCHANGE}, {"multi", CALL}}},
    [EXCHANGE_BASE] = {CLIENT "ExchangeImpl", {{NOTHING}, {NOTHING}, {"exchange", EXCHANGE_OWNER}}},
    [PUBLISHER] = {CLIENT "Http1Exchange$Http1Publisher", {{"this$0", EXCHANGE}}},
    [TASK] = {CLIENT "Http1Exchange$Http1Publisher$WriteTask", {{"this$1", PUBLISHER}}},
};

/* What is told of the machine's own structures. */
struct loader {
	struct loader *next;
	struct java_class *classes;
	void *object;
};
static struct {
	uint32_t length;
	struct java_thread **threads;
} list;
static struct java_machine machine;
static struct loader loader, *loaders = &loader;
static uint64_t class_base, heap[8], *collected = heap;
static uint32_t class_shift;
static void *listed = &list;
static struct java_symbol names[CLASSES][1 + JAVA_FIELDS];

/* As in all versions since 8. */
static const struct {
	const char *type, *field, *of;
	int32_t is_static;
	uint64_t offset;
	const void *address;
} told[] = {
#define FIELD(type, field, offset)                                                                 \
	{                                                                                          \
		type, field, "", 0, offset, NULL                                                   \
	}
#define VARIABLE(type, field, place)                                                               \
	{                                                                                          \
		type, field, "", 1, 0, place                                                       \
	}
    VARIABLE("ThreadsSMRSupport", "_java_thread_list", &listed),
    FIELD("ThreadsList", "_length", 0),
    FIELD("ThreadsList", "_threads", 8),
    FIELD("JavaThread", "_threadObj", offsetof(struct java_thread, object)),
    FIELD("JavaThread", "_vthread", offsetof(struct java_thread, virtual_object)),
    FIELD("JavaThread", "_stack_base", offsetof(struct java_thread, stack_base)),
    FIELD("JavaThread", "_anchor", offsetof(struct java_thread, stack_end)),
    FIELD("JavaFrameAnchor", "_last_Java_sp", 0),
    FIELD("JavaThread", "_current_pending_monitor", offsetof(struct java_thread, enters)),
    FIELD("JavaThread", "_current_waiting_monitor", offsetof(struct java_thread, waits)),
    FIELD("JavaThread", "_osthread", offsetof(struct java_thread, native)),
    FIELD("Thread", "_tlab", offsetof(struct java_thread, buffer_start)),
    FIELD("ThreadLocalAllocBuffer", "_start", 0),
    FIELD("ThreadLocalAllocBuffer", "_top", 8),
    FIELD("OSThread", "_pthread_id", offsetof(struct java_native, pthread)),
    VARIABLE("ClassLoaderDataGraph", "_head", &loaders),
    FIELD("ClassLoaderData", "_next", offsetof(struct loader, next)),
    FIELD("ClassLoaderData", "_klasses", offsetof(struct loader, classes)),
    FIELD("ClassLoaderData", "_class_loader", offsetof(struct loader, object)),
    FIELD("Klass", "_name", offsetof(struct java_class, name)),
    FIELD("Klass", "_next_link", offsetof(struct java_class, next)),
    FIELD("Klass", "_layout_helper", offsetof(struct java_class, layout)),
    FIELD("InstanceKlass", "_fields", offsetof(struct java_class, fields_at)),
    FIELD("InstanceKlass", "_java_fields_count", offsetof(struct java_class, field_count)),
    FIELD("InstanceKlass", "_constants", offsetof(struct java_class, constants_at)),
    FIELD("Symbol", "_length", offsetof(struct java_symbol, length)),
    FIELD("Symbol", "_body", offsetof(struct java_symbol, text)),
    FIELD("Array<u1>", "_data", 0),
    VARIABLE("CompressedOops", "_narrow_oop._base", &machine.heap_base),
    VARIABLE("CompressedOops", "_narrow_oop._shift", &machine.heap_shift),
    VARIABLE("CompressedKlassPointers", "_narrow_klass._base", &class_base),
    VARIABLE("CompressedKlassPointers", "_narrow_klass._shift", &class_shift),
    FIELD("oopDesc", "_metadata._compressed_klass", JAVA_CLASS_AT),
    VARIABLE("Universe", "_collectedHeap", &collected),
    FIELD("CollectedHeap", "_total_collections", 8),
    VARIABLE("CodeCache", "_low_bound", &machine.code_low),
    VARIABLE("CodeCache", "_high_bound", &machine.code_high),
    {NULL, NULL, NULL, 0, 0, NULL},
};

static const struct {
	const char *name, *base;
	int32_t is[3];
	uint64_t size;
} types[] = {{"ConstantPool", NULL, {0}, sizeof(uint64_t)}, {NULL, NULL, {0}, 0}};

const void *gHotSpotVMStructs = told, *gHotSpotVMTypes = types;

/* As each thread has it, which nobody reads but others. */
static __thread struct java_thread *volatile current __attribute__((tls_model("local-dynamic")));

static const struct java_symbol *symbol(struct java_symbol *name, const char *text)
{
	name->length = (uint16_t)strlen(text);
	memcpy(name->text, text, name->length);
	return name;
}

/* A class, and all that is told of its fields. */
static void make_class(int index)
{
	struct java_class *class = &machine.class[index];

	class->name = symbol(&names[index][JAVA_FIELDS], classes[index].name);
	class->next = index + 1 < CLASSES ? class + 1 : NULL;
	class->layout = JAVA_OBJECT_SIZE;
	class->constants_at = class->constants;
	class->fields_at = class->fields;
	for (uint16_t i = 0; i < JAVA_FIELDS && classes[index].field[i].name; i++) {
		const uint32_t place = (JAVA_FIELDS_FROM + i * JAVA_FIELD_BYTES) << TAG_BITS;

		class->constants[1 + i] = symbol(&names[index][i], classes[index].field[i].name);
		class->fields[i][1] = i;
		memcpy(&class->fields[i][4], &place, sizeof(place));
		class->field_count++;
	}
}

struct java_machine *java_begin(void)
{
	class_base = (uintptr_t)machine.class - CLASS_BASE;
	for (int i = 0; i < CLASSES; i++)
		make_class(i);
	loader.classes = machine.class;
	list.length = 1;
	list.threads = &machine.thread;
	return &machine;
}

int java_refers(int class, int field)
{
	return class < CLASSES && classes[class].field[field].name
		   ? classes[class].field[field].refers
		   : JAVA_NUMBER;
}

uint32_t java_narrow_class(int class)
{
	return (uint32_t)((uintptr_t)&machine.class[class] - class_base);
}

void java_be(struct java_thread *thread)
{
	current = thread;
}
