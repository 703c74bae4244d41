// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "base/tar.h"

#define BLOCK_SIZE 512
#define SIZE_MAX_8 077777777777UL /* eleven octal digits */

/* Numbers are octal texts. */
struct head {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100];
	char magic[8], user[32], group[32], major[8], minor[8], prefix[155], unused[12];
};
_Static_assert(sizeof(struct head) == BLOCK_SIZE, "a head is a block");

/* The sum of all bytes, those of the sum itself being blanks. */
static void put_sum(struct head *head)
{
	const unsigned char *bytes = (const unsigned char *)head;
	unsigned int sum = 0;

	memset(head->sum, ' ', sizeof(head->sum));
	for (size_t i = 0; i < sizeof(*head); i++)
		sum += bytes[i];
	snprintf(head->sum, sizeof(head->sum), "%06o", sum);
}

int tar_add(FILE *out, const char *name, const void *bytes, size_t size, time_t changed)
{
	static const char zeros[BLOCK_SIZE];
	struct head head = {.mode = "0000600",
			    .uid = "0000000",
			    .gid = "0000000",
			    .type = '0',
			    .magic = "ustar\0"
				     "00",
			    .user = "root",
			    .group = "root"};

	if (strlen(name) > TAR_NAME_MAX)
		return -ENAMETOOLONG;
	if (size > SIZE_MAX_8)
		return -EFBIG;
	snprintf(head.name, sizeof(head.name), "%s", name);
	snprintf(head.size, sizeof(head.size), "%011zo", size);
	snprintf(head.mtime, sizeof(head.mtime), "%011llo",
		 (unsigned long long)changed & SIZE_MAX_8);
	put_sum(&head);
	fwrite(&head, sizeof(head), 1, out);
	fwrite(bytes, 1, size, out);
	fwrite(zeros, 1, (BLOCK_SIZE - size % BLOCK_SIZE) % BLOCK_SIZE, out);
	return 0;
}

void tar_end(FILE *out)
{
	static const char zeros[2 * BLOCK_SIZE];

	fwrite(zeros, sizeof(zeros), 1, out);
}
