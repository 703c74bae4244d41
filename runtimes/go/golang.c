// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "inspect/subject.h"
#include "runtimes/go/golang.h"
#include "runtimes/go/build_info.h"
#include "inspect/machine_code.h"
#include "runtimes/go/pclntab.h"

#define MINOR_MIN 18
#define MINOR_MAX 27 /* the last one whose struct m is known */

#define CODE_MAX      (64 * 1024UL) /* bytes of a function that are looked at */
#define HEADER_PREFIX 8             /* magic number, zeros, sizes: the same for all tables */

/* Functions whose places are wanted. */
enum function {
	NEWPROC,
	RUNQPUT,
	GOGO,
	WRITE_LOOP,
	READ_LOOP,
	ROUND_TRIP,
	SEND,
	RECV,
	CHANSEND,
	CHANRECV,
	SELECTGO,
	MEMMOVE,
	MEMCLR,
	EXECUTE,
	GOREADY,
	READY_WITH_TIME,
	CLOSECHAN,
	GROUP_ADD,
	GROUP_WAIT,
	COND_WAIT,
	GET_CONN,
	BODY_READ,
	BODY_CLOSE,
	BODY_END,
	STREAM_SERVED,
	STREAM_SERVED_BUNDLED,
	STREAM_CALLED,
	STREAM_CALLED_BUNDLED,
	STREAM_TRIP,
	STREAM_TRIP_WITHIN,
	STREAM_TRIP_BUNDLED,
	STREAM_TRIP_WITHIN_BUNDLED,
	STREAM_READ,
	STREAM_READ_BUNDLED,
	STREAM_HEAD,
	STREAM_HEAD_BUNDLED,
	STREAM_BODY,
	STREAM_BODY_BUNDLED,
	GRPC_SERVED,
	GRPC_CALLS,
	GRPC_PUTS,
	GRPC_WRITES,
	GRPC_HEAD,
	GRPC_READ,
	FUNCTIONS
};

static const char *const function_names[FUNCTIONS] = {
    [NEWPROC] = "runtime.newproc.func1",
    [RUNQPUT] = "runtime.runqput",
    [GOGO] = "gogo",
    [WRITE_LOOP] = "net/http.(*persistConn).writeLoop",
    [READ_LOOP] = "net/http.(*persistConn).readLoop",
    [ROUND_TRIP] = "net/http.(*persistConn).roundTrip",
    [SEND] = "runtime.send",
    [RECV] = "runtime.recv",
    [CHANSEND] = "runtime.chansend",
    [CHANRECV] = "runtime.chanrecv",
    [SELECTGO] = "runtime.selectgo",
    [MEMMOVE] = "runtime.typedmemmove",
    [MEMCLR] = "runtime.typedmemclr",
    [EXECUTE] = "runtime.execute",
    [GOREADY] = "runtime.goready",
    [READY_WITH_TIME] = "runtime.readyWithTime",
    [CLOSECHAN] = "runtime.closechan",
    [GROUP_ADD] = "sync.(*WaitGroup).Add",
    [GROUP_WAIT] = "sync.(*WaitGroup).Wait",
    [COND_WAIT] = "sync.runtime_notifyListWait",
    [GET_CONN] = "net/http.(*Transport).getConn",
    [BODY_READ] = "net/http.(*bodyEOFSignal).Read",
    [BODY_CLOSE] = "net/http.(*bodyEOFSignal).Close",
    [BODY_END] = "net/http.(*bodyEOFSignal).condfn",
    [STREAM_SERVED] = "golang.org/x/net/http2.(*serverConn).runHandler",
    [STREAM_SERVED_BUNDLED] = "net/http.(*http2serverConn).runHandler",
    [STREAM_CALLED] = "golang.org/x/net/http2.(*ClientConn).writeHeaders",
    [STREAM_CALLED_BUNDLED] = "net/http.(*http2ClientConn).writeHeaders",
    [STREAM_TRIP] = "golang.org/x/net/http2.(*ClientConn).RoundTrip",
    [STREAM_TRIP_WITHIN] = "golang.org/x/net/http2.(*ClientConn).roundTrip",
    [STREAM_TRIP_BUNDLED] = "net/http.(*http2ClientConn).RoundTrip",
    [STREAM_TRIP_WITHIN_BUNDLED] = "net/http.(*http2ClientConn).roundTrip",
    [STREAM_READ] = "golang.org/x/net/http2.(*pipe).Read",
    [STREAM_READ_BUNDLED] = "net/http.(*http2pipe).Read",
    [STREAM_HEAD] = "golang.org/x/net/http2.(*serverConn).writeHeaders",
    [STREAM_HEAD_BUNDLED] = "net/http.(*http2serverConn).writeHeaders",
    [STREAM_BODY] = "golang.org/x/net/http2.(*serverConn).writeDataFromHandler",
    [STREAM_BODY_BUNDLED] = "net/http.(*http2serverConn).writeDataFromHandler",
    [GRPC_SERVED] = "google.golang.org/grpc.(*Server).handleStream",
    [GRPC_CALLS] = "google.golang.org/grpc/internal/transport.(*http2Client).NewStream",
    [GRPC_PUTS] = "google.golang.org/grpc/internal/transport.(*controlBuffer).executeAndPut",
    [GRPC_WRITES] = "google.golang.org/grpc/internal/transport.(*loopyWriter).headerHandler",
    [GRPC_HEAD] = "google.golang.org/grpc/internal/transport.(*Stream).waitOnHeader",
    [GRPC_READ] = "google.golang.org/grpc/internal/transport.(*recvBufferReader).readClient",
};

/* Probes at the entry of a function; a program may lack it. */
static const struct entry_site {
	enum function function;
	enum golang_probe probe;
} entry_sites[] = {
    {WRITE_LOOP, GOLANG_CONNECTION},
    {READ_LOOP, GOLANG_CONNECTION},
    {ROUND_TRIP, GOLANG_ROUND_TRIP},
    {SEND, GOLANG_SEND},
    {RECV, GOLANG_RECEIVE},
    {EXECUTE, GOLANG_RUNS},
    {CLOSECHAN, GOLANG_CLOSES},
    {GROUP_ADD, GOLANG_GROUP},
    {STREAM_SERVED, GOLANG_STREAM_SERVED},
    {STREAM_SERVED_BUNDLED, GOLANG_STREAM_SERVED},
    {STREAM_CALLED, GOLANG_STREAM_CALLED},
    {STREAM_CALLED_BUNDLED, GOLANG_STREAM_CALLED},
    {GRPC_SERVED, GOLANG_GRPC_SERVED},
    {GRPC_CALLS, GOLANG_GRPC_CALLS},
    {GRPC_PUTS, GOLANG_GRPC_PUTS},
    {GRPC_WRITES, GOLANG_GRPC_WRITES},
};

/* Probes at all calls that one function makes of another. */
static const struct call_site {
	enum function caller, callee;
	enum golang_probe probe;
} call_sites[] = {
    {NEWPROC, RUNQPUT, GOLANG_STARTED}, {CHANSEND, MEMMOVE, GOLANG_STORE},
    {SELECTGO, MEMMOVE, GOLANG_STORE},  {CHANRECV, MEMCLR, GOLANG_TAKE},
    {SELECTGO, MEMCLR, GOLANG_TAKE},
};

/* The same where it may be done in some other way: then it is not seen. */
static const struct call_site wake_sites[] = {
    {CLOSECHAN, GOREADY, GOLANG_WAKES},
    {READY_WITH_TIME, GOREADY, GOLANG_WAKES},
};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Where goroutines wait for others. (Who waits for a lock waits for nothing that is done for him.)
 */
static const enum function waits[RUNTIME_WAITS] = {CHANRECV, SELECTGO, GROUP_WAIT, COND_WAIT};
/* Of the names in a row the first one that the program has counts. */
#define CALL_NAMES 4
static const enum function calls[RUNTIME_CALLS][CALL_NAMES] = {
    {GET_CONN},
    {ROUND_TRIP},
    {BODY_READ},
    {BODY_CLOSE},
    {BODY_END},
    {STREAM_TRIP_WITHIN, STREAM_TRIP, STREAM_TRIP_WITHIN_BUNDLED, STREAM_TRIP_BUNDLED},
    {STREAM_READ, STREAM_READ_BUNDLED},
    {STREAM_HEAD, STREAM_HEAD_BUNDLED},
    {STREAM_BODY, STREAM_BODY_BUNDLED},
    {GRPC_CALLS},
    {GRPC_HEAD},
    {GRPC_READ},
};

/* What `go cr.backgroundRead()` is compiled to, under names that change from version to version. */
static const char watcher_prefix[] = "net/http.(*connReader).startBackgroundRead.";
/* Since Go 1.23. Before, no message tells who waits for a connection that there is one. */
static const char dials[] = "net/http.(*Transport).startDialConnForLocked.func1";

/*
 * Of the functions whose names begin like that, a goroutine is started with one only: what
 * `go cs.doRequest(...)` is compiled to, under names that change from version to version.
 */
static const char *const stream_prefixes[] = {
    "golang.org/x/net/http2.(*ClientConn).RoundTrip.",
    "golang.org/x/net/http2.(*ClientConn).roundTrip.",
    "net/http.(*http2ClientConn).RoundTrip.",
    "net/http.(*http2ClientConn).roundTrip.",
};

struct places {
	struct pclntab_function function[FUNCTIONS];
	struct runtime_go go;
	unsigned int watcher_count;
	unsigned int stream_count;
};

/* Linkers may have put the table into a section with other things. */
static int search_table(const struct elf_section *section, struct pclntab *ret_table,
			__u64 *ret_address)
{
	for (size_t i = 0; i + PCLNTAB_HEADER_SIZE <= section->size; i += HEADER_PREFIX) {
		const __u8 *at = section->data + i;

		if (at[1] != 0xff || at[2] != 0xff || at[3] != 0xff ||
		    pclntab_open(at, section->size - i, ret_table))
			continue;
		*ret_address = section->address + i;
		return 0;
	}
	return -ENOENT;
}

static int find_table(struct elf_image *image, struct pclntab *ret_table)
{
	static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab", ".data.rel.ro",
					    ".rodata"};
	struct elf_section section;
	__u64 address;
	int err = -ENOENT;

	for (size_t i = 0; err && i < sizeof(names) / sizeof(names[0]); i++)
		if (!elf_image_section(image, names[i], &section))
			err = search_table(&section, ret_table, &address);
	if (err || ret_table->text)
		return err;
	return elf_image_relocation(image, address + PCLNTAB_TEXT_FIELD, &ret_table->text);
}

static void note_stream(struct places *places, const struct pclntab_function *function)
{
	for (size_t i = 0; i < COUNT(stream_prefixes); i++)
		if (!strncmp(function->name, stream_prefixes[i], strlen(stream_prefixes[i])) &&
		    places->stream_count < RUNTIME_STREAMS)
			places->go.streams[places->stream_count++] = function->start;
}

static void note(struct places *places, const struct pclntab_function *function)
{
	note_stream(places, function);
	for (int i = 0; i < FUNCTIONS; i++)
		if (!strcmp(function->name, function_names[i]))
			places->function[i] = *function;
	if (!strncmp(function->name, watcher_prefix, sizeof(watcher_prefix) - 1) &&
	    places->watcher_count < RUNTIME_WATCHERS)
		places->go.watchers[places->watcher_count++] = function->start;
	if (!strcmp(function->name, dials))
		places->go.dials = function->start;
}

static int find_places(const struct pclntab *table, struct places *ret_places)
{
	struct pclntab_function function;
	int err = 0;

	*ret_places = (struct places){};
	for (__u64 i = 0; !err; i++) {
		err = pclntab_get(table, i, &function);
		if (!err)
			note(ret_places, &function);
	}
	return err == -ENOENT ? 0 : err;
}

/* The machine code of a function, as far as `to` has room. Returns its size, 0 if unreadable. */
static size_t read_code(struct elf_image *image, const struct pclntab_function *function, __u8 *to)
{
	size_t size = function->end - function->start;

	if (size > CODE_MAX)
		size = CODE_MAX;
	return function->name && !elf_image_read(image, function->start, to, size) ? size : 0;
}

static int add_site(struct elf_image *image, struct golang *golang, enum golang_probe probe,
		    __u64 address)
{
	return probe_sites_add(&golang->sites, image, SUBJECT_PROGRAM, probe, address);
}

static int place_entry(struct elf_image *image, const struct places *places,
		       const struct entry_site *at, __u8 *code, struct golang *golang)
{
	const struct pclntab_function *function = &places->function[at->function];
	size_t size = read_code(image, function, code);

	if (!function->name)
		return 0;
	return add_site(image, golang, at->probe, function->start + machine_code_entry(code, size));
}

/* -ENOENT: no such call. */
static int place_calls(struct elf_image *image, const struct places *places,
		       const struct call_site *at, __u8 *code, struct golang *golang)
{
	const struct pclntab_function *caller = &places->function[at->caller];
	size_t size = read_code(image, caller, code), offset = 0;
	__u64 target = places->function[at->callee].start;
	int err = machine_code_call(code, size, caller->start, target, 0, &offset);

	if (err)
		return err;
	while (!err) {
		err = add_site(image, golang, at->probe, caller->start + offset);
		if (!err)
			err = machine_code_call(code, size, caller->start, target, offset + 1,
						&offset);
	}
	return err == -ENOENT ? 0 : err;
}

/* Functions that a program lacks are nowhere, and so is the first of them all, which is not asked
 * for. */
static struct runtime_code code_of(const struct places *places, enum function function, __u64 text)
{
	const struct pclntab_function *found = &places->function[function];

	if (!function || !found->name)
		return (struct runtime_code){};
	return (struct runtime_code){(__u32)(found->start - text), (__u32)(found->end - text)};
}

static void note_waits(const struct places *places, __u64 text, struct runtime_go *go)
{
	go->text = text;
	for (size_t i = 0; i < COUNT(waits); i++)
		go->waits[i] = code_of(places, waits[i], text);
	for (size_t i = 0; i < COUNT(calls); i++)
		for (size_t j = 0; j < CALL_NAMES && !go->calls[i].end; j++)
			go->calls[i] = code_of(places, calls[i][j], text);
}

/* Where things stand in structs of the runtime of this version. */
static void note_structs(unsigned int minor, struct runtime_go *go)
{
	go->curg_offset = minor < 25 ? 192 : 184;
	go->recvx_offset = minor < 23 ? 48 : 56;
	go->frame_offset = minor < 25 ? 104 : 96;
}

/* Where a thread keeps its goroutine. */
static int find_g(struct elf_image *image, const struct places *places, struct golang *golang)
{
	static __u8 code[CODE_MAX];
	size_t size = read_code(image, &places->function[GOGO], code);

	return machine_code_g_offset(code, size, &golang->runtime.go.g_offset) ? -ENOTSUP : 0;
}

static int place_probes(struct elf_image *image, const struct places *places, struct golang *golang,
			enum why *ret_why)
{
	static __u8 code[CODE_MAX];
	int err = 0;

	golang->runtime.go = places->go;
	note_structs(golang->minor, &golang->runtime.go);
	*ret_why = WHY_GO_GOROUTINE;
	if (find_g(image, places, golang))
		return -ENOTSUP;
	*ret_why = WHY_GO_RUNTIME;
	for (size_t i = 0; !err && i < COUNT(call_sites); i++)
		err = place_calls(image, places, &call_sites[i], code, golang);
	for (size_t i = 0; !err && i < COUNT(entry_sites); i++)
		err = place_entry(image, places, &entry_sites[i], code, golang);
	for (size_t i = 0; !err && i < COUNT(wake_sites); i++) {
		err = place_calls(image, places, &wake_sites[i], code, golang);
		err = err == -ENOENT ? 0 : err;
	}
	if (err)
		return -ENOTSUP;
	*ret_why = WHY_NONE;
	return 0;
}

static int check_version(const struct elf_section *build, struct golang *golang, enum why *ret_why)
{
	*ret_why = WHY_VERSION_UNTOLD;
	if (golang_build_minor(build->data, build->size, &golang->minor))
		return -ENOTSUP;
	*ret_why = WHY_VERSION;
	if (golang->minor < MINOR_MIN || golang->minor > MINOR_MAX)
		return -ENOTSUP;
	golang->runtime.kind = RUNTIME_GO;
	return 0;
}

int golang_inspect(struct elf_image *image, struct golang *ret_golang, enum why *ret_why)
{
	struct golang golang = {};
	struct elf_section build;
	struct pclntab table;
	struct places places;
	int err;

	if (elf_image_section(image, ".go.buildinfo", &build))
		return -ENOENT;
	*ret_why = WHY_PROCESSOR;
	if (elf_image_machine(image) != EM_X86_64)
		return -ENOTSUP;
	golang.entry = elf_image_entry(image);
	err = check_version(&build, &golang, ret_why);
	if (err)
		return err;
	*ret_why = WHY_GO_TABLE;
	if (find_table(image, &table) || find_places(&table, &places))
		return -ENOTSUP;
	err = place_probes(image, &places, &golang, ret_why);
	note_waits(&places, table.text, &golang.runtime.go);
	if (!err)
		*ret_golang = golang;
	return err;
}

int golang_goroutine(struct elf_image *image, unsigned int *ret_minor, __s32 *ret_g_offset)
{
	struct golang golang = {};
	struct elf_section build;
	struct pclntab table;
	struct places places;
	enum why why;
	int err;

	if (elf_image_section(image, ".go.buildinfo", &build))
		return -ENOENT;
	err = check_version(&build, &golang, &why);
	if (err || elf_image_machine(image) != EM_X86_64 || find_table(image, &table) ||
	    find_places(&table, &places) || find_g(image, &places, &golang))
		return -ENOTSUP;
	*ret_minor = golang.minor;
	*ret_g_offset = golang.runtime.go.g_offset;
	return 0;
}

static void relocate(__u64 *address, __u64 bias)
{
	if (*address)
		*address += bias;
}

void golang_relocate(struct runtime_go *go, __u64 bias)
{
	for (int i = 0; i < RUNTIME_WATCHERS; i++)
		relocate(&go->watchers[i], bias);
	for (int i = 0; i < RUNTIME_STREAMS; i++)
		relocate(&go->streams[i], bias);
	relocate(&go->dials, bias);
	relocate(&go->text, bias);
}
