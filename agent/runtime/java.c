// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>

#include "base/cleanup.h"
#include "runtime/hotspot.h"
#include "runtime/java.h"
#include "runtime/library.h"
#include "runtime/process_memory.h"

#define LIBRARY       "libjvm.so"
#define THREADS_MAX   16  /* that are looked at until one is found as it should be */
#define VARIABLES_MAX 256 /* bytes of the virtual machine's thread-local variables */
/* glibc on x86-64: struct pthread has the address of an array of TLS blocks, 16 bytes each. */
#define THREAD_BLOCKS 8
#define BLOCK_SIZE    16

/* Offsets in objects of java.lang.Thread, and its class and that of its name. */
struct thread_class {
	__u32 native, blocker, name;
	__u64 class, text;
};

static int find_thread_class(const struct hotspot *hotspot, struct thread_class *ret_class)
{
	struct thread_class *c = ret_class;

	c->class = hotspot_class(hotspot, "java/lang/Thread");
	c->text = hotspot_class(hotspot, "java/lang/String");
	if (!c->class || !c->text || hotspot_field(hotspot, c->class, "eetop", &c->native) ||
	    hotspot_field(hotspot, c->class, "parkBlocker", &c->blocker) ||
	    hotspot_field(hotspot, c->class, "name", &c->name))
		return -ENOTSUP;
	return 0;
}

/* An address that is kept in 32 bits. */
static __u64 decode(const struct hotspot *hotspot, __u64 base, __u64 shift, __u64 where)
{
	return process_memory_u64(hotspot->fd, base) +
	       ((__u64)process_memory_u32(hotspot->fd, where)
		<< process_memory_u32(hotspot->fd, shift));
}

static __u64 class_of(const struct hotspot *hotspot, __u64 object)
{
	return decode(hotspot, hotspot->class_base, hotspot->class_shift,
		      object + hotspot->object_class);
}

/*
 * Is this the object of a thread, as it should be? Its name tells whether addresses are kept in 32
 * bits, in the way that is known.
 */
static bool object_is_right(const struct hotspot *hotspot, const struct thread_class *class,
			    __u64 object, __u64 thread)
{
	__u64 name =
	    decode(hotspot, hotspot->narrow_base, hotspot->narrow_shift, object + class->name);

	return process_memory_u64(hotspot->fd, object + class->native) == thread &&
	       class_of(hotspot, name) == class->text;
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
static int look_at_threads(const struct hotspot *hotspot, const struct thread_class *class,
			   struct runtime_java *java)
{
	__u64 list = process_memory_u64(hotspot->fd, hotspot->thread_list);
	__u64 array = process_memory_u64(hotspot->fd, list + hotspot->threads_array);
	__u32 count = process_memory_u32(hotspot->fd, list + hotspot->threads_length);

	for (__u32 i = 0; i < count && i < THREADS_MAX; i++) {
		__u64 thread = process_memory_u64(hotspot->fd, array + i * sizeof(thread));
		__u64 handle = process_memory_u64(hotspot->fd, thread + hotspot->thread_object);
		__u64 object = process_memory_u64(hotspot->fd, handle);

		if (class_of(hotspot, object) == class->class &&
		    object_is_right(hotspot, class, object, thread) &&
		    !find_variable(hotspot, thread, java))
			return 0;
	}
	return -ENOTSUP;
}

/* Futures, if the program has come to use them. 0 or -ENOTSUP. */
static int find_futures(const struct hotspot *hotspot, struct runtime_java *java)
{
	__u64 base = process_memory_u64(hotspot->fd, hotspot->class_base);
	__u64 class = hotspot_class(hotspot, "java/util/concurrent/FutureTask");
	__u32 runner;

	if (!class)
		return 0;
	if (hotspot_field(hotspot, class, "runner", &runner))
		return -ENOTSUP;
	java->runner = (__u16)runner;
	java->future_class =
	    (__u32)((class - base) >> process_memory_u32(hotspot->fd, hotspot->class_shift));
	return 0;
}

static int look_at_machine(const struct hotspot *hotspot, struct runtime_java *java)
{
	struct thread_class class;
	int err = find_thread_class(hotspot, &class);

	if (!err)
		err = look_at_threads(hotspot, &class, java);
	if (err)
		return err;
	java->heap = process_memory_u64(hotspot->fd, hotspot->narrow_base);
	java->heap_shift = process_memory_u16(hotspot->fd, hotspot->narrow_shift);
	java->object = (__u16)hotspot->thread_object;
	java->class = (__u16)hotspot->object_class;
	java->blocker = (__u16) class.blocker;
	return find_futures(hotspot, java);
}

static int look_at_library(__u32 tgid, const struct library *library, struct runtime_java *java,
			   const char **ret_why)
{
	struct elf_image *image = library->image;
	_cleanup_close_ int fd = -1;
	struct hotspot hotspot;

	*ret_why = "its processor is not supported";
	if (elf_image_machine(image) != EM_X86_64)
		return -ENOTSUP;
	*ret_why = "its virtual machine is none that is known, or keeps objects in another way";
	if (elf_image_named_relocation(image, R_X86_64_DTPMOD64, "", &java->slot))
		return -ENOTSUP;
	java->slot += library->bias;
	fd = process_memory_open(tgid);
	if (fd < 0)
		return fd;
	if (hotspot_open(fd, image, library->bias, &hotspot) || look_at_machine(&hotspot, java))
		return -ENOTSUP;
	*ret_why = NULL;
	return 0;
}

int java_inspect(__u32 tgid, struct runtime *ret_runtime, const char **ret_why)
{
	_cleanup_library_ struct library library = LIBRARY_NONE;
	int err = library_open(tgid, LIBRARY, &library);

	if (err)
		return err;
	*ret_runtime = (struct runtime){.kind = RUNTIME_JAVA};
	return look_at_library(tgid, &library, &ret_runtime->java, ret_why);
}
