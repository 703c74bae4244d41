// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image.h"

#define WORD      sizeof(__u64)
#define LINE_SIZE 256

static int add_word(struct image *image, __u64 address, const char *hex)
{
	__u8 bytes[WORD];
	struct image_word *word = &image->word[image->words];

	for (size_t i = 0; i < WORD; i++)
		if (sscanf(hex + 2 * i, "%2hhx", &bytes[i]) != 1)
			return -EINVAL;
	if (image->words == IMAGE_WORDS_MAX || (image->words && word[-1].address >= address))
		return -EINVAL;
	word->address = address;
	memcpy(&word->value, bytes, WORD);
	image->words++;
	return 0;
}

/* "ADDRESS BYTES", in hexadecimal. */
static int add_piece(struct image *image, const char *text)
{
	char *hex;
	__u64 address = strtoull(text, &hex, 16);
	int err = address % WORD || *hex != ' ' ? -EINVAL : 0;

	for (hex++; !err && *hex && *hex != '\n'; hex += 2 * WORD, address += WORD)
		err = strlen(hex) < 2 * WORD ? -EINVAL : add_word(image, address, hex);
	return err;
}

static int add_function(struct image *image, const char *text)
{
	struct image_function *function = &image->function[image->count];

	if (image->count == IMAGE_FUNCTIONS_MAX ||
	    sscanf(text, "%llx %llx %d %63[^\n]", &function->code, &function->name,
		   &function->entry, function->text) != 4)
		return -EINVAL;
	image->count++;
	return 0;
}

static int add_place(struct image *image, const char *text)
{
	struct image_place *place = &image->place[image->places];

	if (image->places == IMAGE_PLACES_MAX ||
	    sscanf(text, "%llx %llx %63[^\n]", &place->start, &place->end, place->name) != 3)
		return -EINVAL;
	image->places++;
	return 0;
}

static int add_label(struct image *image, const char *text)
{
	struct image_label *label = &image->label[image->labels];

	if (image->labels == IMAGE_LABELS_MAX ||
	    sscanf(text, "%63s %63[^\n]", label->key, label->value) != 2)
		return -EINVAL;
	image->labels++;
	return 0;
}

static int read_line(struct image *image, const char *line)
{
	if (line[0] == '#')
		return 0;
	if (!strncmp(line, "at ", 3))
		return add_piece(image, line + 3);
	if (!strncmp(line, "function ", 9))
		return add_function(image, line + 9);
	if (!strncmp(line, "place ", 6))
		return add_place(image, line + 6);
	if (!strncmp(line, "label ", 6))
		return add_label(image, line + 6);
	if (sscanf(line, "minor %u", &image->minor) == 1 ||
	    sscanf(line, "thread %llx", &image->thread) == 1 ||
	    sscanf(line, "key %llx", &image->key) == 1)
		return 0;
	return -EINVAL;
}

int image_open(const char *path, struct image *ret_image)
{
	FILE *file = fopen(path, "re");
	char line[LINE_SIZE];
	int err = 0;

	if (!file)
		return -errno;
	*ret_image = (struct image){.hidden = IMAGE_WORDS_MAX};
	while (!err && fgets(line, sizeof(line), file))
		err = read_line(ret_image, line);
	fclose(file);
	return err;
}

static int compare(const void *a, const void *b)
{
	__u64 x = ((const struct image_word *)a)->address,
	      y = ((const struct image_word *)b)->address;

	return (x > y) - (x < y);
}

struct image_word *image_find(struct image *image, __u64 address)
{
	struct image_word wanted = {.address = address};

	return bsearch(&wanted, image->word, image->words, sizeof(wanted), compare);
}

/* Returns whether this word, which begins at a multiple of 8, can be read. */
static int read_aligned(const struct image *image, __u64 address, __u64 *ret)
{
	struct image_word wanted = {.address = address};
	const struct image_word *word =
	    bsearch(&wanted, image->word, image->words, sizeof(wanted), compare);

	if (!word || word == &image->word[image->hidden])
		return 0;
	*ret = word->value;
	return 1;
}

int image_has(const struct image *image, __u64 address)
{
	__u64 unused;

	return read_aligned(image, address, &unused);
}

int image_add(struct image *image, __u64 address, __u64 value)
{
	if (address % WORD || image->words == IMAGE_WORDS_MAX || image_find(image, address))
		return -EINVAL;
	image->word[image->words++] = (struct image_word){.address = address, .value = value};
	qsort(image->word, image->words, sizeof(image->word[0]), compare);
	return 0;
}

__u64 image_word(const struct image *image, __u64 address)
{
	__u64 part[2] = {}, value;
	size_t within = address % WORD;

	if (!read_aligned(image, address - within, &part[0]))
		return 0;
	if (within && !read_aligned(image, address - within + WORD, &part[1]))
		return 0;
	memcpy(&value, (const char *)part + within, WORD);
	return value;
}

int image_memory(const struct image *image)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	for (size_t i = 0; fd >= 0 && i < image->words; i++) {
		const struct image_word *word = &image->word[i];

		if (i != image->hidden &&
		    pwrite(fd, &word->value, WORD, (off_t)word->address) != (ssize_t)WORD) {
			close(fd);
			return -EIO;
		}
	}
	return fd < 0 ? -errno : fd;
}
