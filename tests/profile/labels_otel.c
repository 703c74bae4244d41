// SPDX-License-Identifier: Apache-2.0
/*
 * The thread context of OTEP 4947 and the process context of OTEP 4719, written only from the
 * published layouts. argv[2] says what is otherwise:
 *     bad   thread 0 points nowhere, of thread 1 the record is not valid, of thread 2 its size lies
 *     lies  of thread 0 an attribute is longer than the record, thread 1 has keys that there are
 *           not, and more than there is room for, of thread 2 values cannot be shown
 *     two   Elastic APM's thread context names another trace
 *     exec  it becomes itself again a few times, at first
 *     far   what the process says of itself stands in the file of argv[3], which is mapped and
 *           never read
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "labels_burn.h"
#include "otel_record.h"

#define PAGE 4096

struct header {
	char signature[8];
	uint32_t version, size;
	uint64_t published_at, payload;
};

__attribute__((visibility("default"))) __thread struct otel_record *otel_thread_ctx_v1;
static __thread struct otel_record mine;
static uint8_t payload[512];
static size_t payload_size;
static int is_bad, has_lies, has_two;

/* As labels_elastic.c has it. */
struct elastic {
	uint16_t minor;
	uint8_t valid, present, flags;
	uint8_t trace_id[16], span_id[8], transaction_id[8];
} __attribute__((packed));
__thread struct elastic *elastic_apm_profiling_correlation_tls_v1;
static __thread struct elastic other;

static void put(const void *bytes, size_t size)
{
	memcpy(payload + payload_size, bytes, size);
	payload_size += size;
}

/* A field of protobuf that has a length. */
static void put_field(int number, const void *bytes, size_t size)
{
	const uint8_t head[] = {(uint8_t)(number << 3 | 2), (uint8_t)size};

	put(head, sizeof(head));
	put(bytes, size);
}

/* A byte, the size of a text, and the text without its end. Returns how much that is. */
static size_t put_text(uint8_t *to, uint8_t first, const char *text)
{
	size_t size = 0;

	for (; text[size]; size++)
		to[2 + size] = (uint8_t)text[size];
	to[0] = first;
	to[1] = (uint8_t)size;
	return 2 + size;
}

/* A text as AnyValue. Returns its size. */
static size_t text_value(uint8_t *to, const char *text)
{
	return put_text(to, 1 << 3 | 2, text);
}

/* An attribute of the process context: {key = 1, value = 2}. */
static void put_attribute(const char *key, const uint8_t *value, size_t size)
{
	uint8_t pair[256];
	size_t used = put_text(pair, 1 << 3 | 2, key);

	pair[used++] = 2 << 3 | 2;
	pair[used++] = (uint8_t)size;
	memcpy(pair + used, value, size);
	put_field(2, pair, used + size);
}

static void put_keys(void)
{
	static const char *const keys[] = {"unused", "thread", "route"};
	uint8_t list[128], value[128], text[32];
	size_t used = 0, size;

	for (size_t i = 0; i < 3; i++) {
		size = text_value(text, keys[i]);
		list[used++] = 1 << 3 | 2;
		list[used++] = (uint8_t)size;
		memcpy(list + used, text, size);
		used += size;
	}
	value[0] = 5 << 3 | 2; /* array_value */
	value[1] = (uint8_t)used;
	memcpy(value + 2, list, used);
	put_attribute("threadlocal.attribute_key_map", value, used + 2);
}

/* In memory of its own, as its name says in /proc/PID/maps. */
static int publish_process(const void *where)
{
	struct timespec now;
	struct header *header;
	uint8_t schema[32];
	int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, PAGE))
		return -1;
	header = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (header == MAP_FAILED)
		return -1;
	put_attribute("threadlocal.schema_version", schema, text_value(schema, "tlsdesc_v1_dev"));
	put_keys();
	clock_gettime(CLOCK_BOOTTIME, &now);
	memcpy(header->signature, "OTEL_CTX", sizeof(header->signature));
	header->version = 2;
	header->size = (uint32_t)payload_size;
	header->payload = (uint64_t)(uintptr_t)where;
	header->published_at = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	return 0;
}

/* A page of a file; NULL: it cannot be mapped. */
static const void *map_page(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);

	return page == MAP_FAILED ? NULL : page;
}

static void add_attribute(uint8_t key, const char *value)
{
	const size_t size = put_text(mine.attributes + mine.attributes_size, key, value);

	mine.attributes_size = (uint16_t)(mine.attributes_size + size);
}

static void lie(int n)
{
	if (n == 0) {
		mine.attributes[1] = 200;
	} else if (n == 1) {
		memset(mine.attributes, 0xff, sizeof(mine.attributes));
		for (size_t i = 1; i < sizeof(mine.attributes); i += 2)
			mine.attributes[i] = 0;
		mine.attributes_size = sizeof(mine.attributes);
	} else if (n == 2) {
		add_attribute(2, "\x1b[2J\n\xe2\x80\xae\xff");
	}
}

/* Of two attributes with one key the last one counts. */
static void begin(int n)
{
	char text[16];

	memset(mine.trace_id, 0xa0 + n, sizeof(mine.trace_id));
	memset(mine.span_id, 0xb0 + n, sizeof(mine.span_id));
	snprintf(text, sizeof(text), "t%d", n);
	add_attribute(1, "first");
	add_attribute(2, "/search");
	add_attribute(1, text);
	mine.valid = !is_bad || n != 1;
	if (is_bad && n == 2)
		mine.attributes_size = 0xffff;
	if (has_lies)
		lie(n);
}

static void set(int n)
{
	if (has_two) {
		other = (struct elastic){.minor = 1, .valid = 1, .present = 1};
		memset(other.trace_id, 0xc0 + n, sizeof(other.trace_id));
		memset(other.span_id, 0xd0 + n, sizeof(other.span_id));
		elastic_apm_profiling_correlation_tls_v1 = &other;
	}
	otel_thread_ctx_v1 = is_bad && n == 0 ? (struct otel_record *)0x123456789000 : &mine;
}

static void clear(int n)
{
	(void)n;
	otel_thread_ctx_v1 = NULL;
	elastic_apm_profiling_correlation_tls_v1 = NULL;
}

/* Burn a while, then begin anew, three times at most. */
static void become_again(const struct labels_writer *writer, char **argv)
{
	const char *done = getenv("PROFILE_LABELS_DONE");
	const size_t times = done ? strlen(done) : 0;
	char again[] = "xxx";

	if (times == sizeof(again) - 1)
		return;
	labels_burn(writer, 0.5);
	again[times + 1] = '\0';
	setenv("PROFILE_LABELS_DONE", again, 1);
	execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
	static const struct labels_writer writer = {begin, set, clear};

	is_bad = argc > 2 && !strcmp(argv[2], "bad");
	has_lies = argc > 2 && !strcmp(argv[2], "lies");
	has_two = argc > 2 && !strcmp(argv[2], "two");
	if (publish_process(argc > 3 && !strcmp(argv[2], "far") ? map_page(argv[3]) : payload))
		return EXIT_FAILURE;
	if (argc > 2 && !strcmp(argv[2], "exec"))
		become_again(&writer, argv);
	return labels_main(&writer, argc, argv);
}
