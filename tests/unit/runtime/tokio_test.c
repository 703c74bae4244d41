// SPDX-License-Identifier: Apache-2.0
/* How Rust's tokio and the like are known: by names that stand in what is constant in a program. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "program.h"
#include "runtimes/tokio/tokio.h"

#define TEXT_MAX 256

/* A file of one segment, in which nothing stands but a text. */
struct file {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	char text[TEXT_MAX];
};

static struct file file_of(const char *text, uint32_t flags)
{
	struct file file = {
	    .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				   EV_CURRENT},
		       .e_type = ET_DYN,
		       .e_machine = EM_X86_64,
		       .e_version = EV_CURRENT,
		       .e_phoff = offsetof(struct file, segment),
		       .e_ehsize = sizeof(Elf64_Ehdr),
		       .e_phentsize = sizeof(Elf64_Phdr),
		       .e_phnum = 1},
	    .segment = {.p_type = PT_LOAD,
			.p_flags = flags,
			.p_offset = offsetof(struct file, text),
			.p_filesz = strlen(text),
			.p_memsz = strlen(text)},
	};

	memcpy(file.text, text, strlen(text));
	return file;
}

/* What is said of the first `size` bytes of a file, behind which there is nothing. */
static int inspect(const struct file *file, size_t size)
{
	struct elf_image *image;
	void *bytes = malloc(size);
	int err;

	assert_non_null(bytes);
	memcpy(bytes, file, size);
	assert_int_equal(elf_image_open_bytes(bytes, size, &image), 0);
	err = tokio_inspect(image);
	elf_image_close(image);
	free(bytes);
	return err;
}

static int inspect_text(const char *text, uint32_t flags)
{
	struct file file = file_of(text, flags);

	return inspect(&file, sizeof(file));
}

static void by_names(void **state)
{
	static const char *const texts[] = {
	    "/usr/share/cargo/registry/hyper-0.14.19/src/client/pool.rs",
	    "/opt/registry/src/index.crates.io-6f17d22bba15001f/tokio-1.38.0/src/lib.rs",
	    "src/github.com-1ecc6299db9ec823/hyper-1.4.1/src/lib.rs",
	    "/opt/git/checkouts/tokio-377c595163f99a10/4f7e2b1/tokio/src/lib.rs",
	    "a panic: \x01/x/async-executor-1.5.0/src/lib.rs",
	    "- -- /tokio- /x/tokio-1.0.0-beta.2/src/",
	    "called `Option::unwrap()`tokio-runtime-workerfailed to spawn"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(inspect_text(texts[i], PF_R), 0);
		assert_int_equal(inspect_text(texts[i], PF_R | PF_X), 0);
		assert_int_equal(inspect_text(texts[i], PF_R | PF_W), -ENOENT);
	}
}

static void by_nothing_like_them(void **state)
{
	static const char *const texts[] = {"",
					    "-",
					    "tokio-1.38.0/src/lib.rs",
					    "/x/mytokio-1.38.0/src/lib.rs",
					    "/x/tokio-util-0.7.3",
					    "/x/tokio-1.38.0/ src/lib.rs",
					    "/x/tokio-1.38.0 is not /src/ here",
					    "tokio-runtime-worke",
					    "/usr/share/doc/hyper-0.14.19/README"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(inspect_text(texts[i], PF_R), -ENOENT);
}

/* A file that ends early, or whose segment says more than is there, is read to its end only. */
static void within_the_file(void **state)
{
	static const char text[] = "/x/tokio-1.38.0/src/lib.rs";
	size_t whole = offsetof(struct file, text) + strlen("/x/tokio-1.38.0/src/");
	struct file file = file_of(text, PF_R);

	(void)state;
	file.segment.p_filesz = UINT64_MAX;
	for (size_t size = offsetof(struct file, text); size < whole; size++)
		assert_int_equal(inspect(&file, size), -ENOENT);
	assert_int_equal(inspect(&file, whole), 0);
	file.segment.p_offset = UINT64_MAX;
	assert_int_equal(inspect(&file, sizeof(file)), -ENOENT);
}

static void not_in_others(void **state)
{
	_cleanup_program_ struct program shell = program_at("/bin/sh");

	(void)state;
	assert_int_equal(tokio_inspect(shell.image), -ENOENT);
}

static const struct classified *nobody_knows(const struct stat *file, void *data)
{
	(void)file;
	(void)data;
	return NULL;
}

/* This program has the names in it, as those have that are meant. */
static void a_process(void **state)
{
	_cleanup_subject_ struct subject self = subject_of(getpid());
	struct classified found;

	(void)state;
	assert_int_equal(classify(&self, nobody_knows, NULL, &found), 0);
	assert_int_equal(found.runtime.kind, RUNTIME_UNSEEN);
	assert_int_equal(classify_check(&self, &found), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(by_names),        cmocka_unit_test(by_nothing_like_them),
	    cmocka_unit_test(within_the_file), cmocka_unit_test(not_in_others),
	    cmocka_unit_test(a_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
