// SPDX-License-Identifier: Apache-2.0
/*
 * Labels by share/ctxprop_labels.h; and others in variables that labels.py registers. With "lies"
 * in argv[2] those of thread 0 point nowhere, of thread 1 to a text without end, of thread 2 into
 * the kernel, and their texts have no end.
 */
#include <stdio.h>
#include <string.h>

#include "ctxprop_labels.h"
#include "labels_burn.h"

__thread uint64_t shard;       /* 100 + the thread's number; 0 in between */
__thread const char *customer; /* NULL in between */
__thread char region[32];      /* empty in between */
static char endless[1 << 20];
static const char *const names[] = {"zero", "one", "two", "three"};
/* 46 bytes and a character of three: it does not fit into 47. */
static const char long_value[] = "0123456789012345678901234567890123456789012345\xe2\x82\xac";

static const char *lying[] = {(const char *)0x123456789000, endless,
			      (const char *)0xffff888000000000};
static int has_lies;

static void begin(int n)
{
	(void)n;
}

static void set(int n)
{
	char text[16];

	snprintf(text, sizeof(text), "t%d", n);
	ctxprop_label_set("thread", text);
	ctxprop_label_set("long", long_value);
	shard = 100 + (uint64_t)n;
	customer = names[n];
	snprintf(region, sizeof(region), "r%d", n);
	if (has_lies && n < 3) {
		customer = lying[n];
		memset(region, 'r', sizeof(region));
	}
}

static void clear(int n)
{
	(void)n;
	ctxprop_label_clear("thread");
	ctxprop_label_clear("long");
	shard = 0;
	customer = NULL;
	region[0] = '\0';
}

int main(int argc, char **argv)
{
	static const struct labels_writer writer = {begin, set, clear};

	has_lies = argc > 2 && !strcmp(argv[2], "lies");
	memset(endless, 'e', sizeof(endless));
	return labels_main(&writer, argc, argv);
}
