// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>

#include "runtime/driver.h"

/*
 * What the emulator (erts, beam.smp) gives to native functions and to drivers: erl_nif.h has it
 * since R13B03, erl_driver.h since R13B. A library of such functions only asks for it.
 */
static const char *const symbols[] = {"enif_priv_data", "erl_drv_thread_create"};

static int detect(const struct subject *subject, struct elf_image *image, struct classified *found)
{
	__u64 address;

	(void)subject;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (elf_image_symbol(image, symbols[i], &address))
			return -ENOENT;
	found->runtime.kind = RUNTIME_UNSEEN;
	return 0;
}

static void describe(const struct classified *found, char *ret_text)
{
	(void)found;
	snprintf(ret_text, CLASSIFIED_TEXT_MAX,
		 "runs processes of Erlang: which one makes a call is not seen, so calls begin "
		 "traces of "
		 "their own");
}

const struct runtime_driver erlang_driver = {
    .name = "Erlang",
    .detect = detect,
    .describe = describe,
};
