/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What edits.h has to agree with: the whole app stream and the whole wire stream of one flow,
 * byte by byte, with every edit that was ever made. Places are offsets from the first byte.
 */
#ifndef CTXPROP_TEST_EDITS_MODEL_H
#define CTXPROP_TEST_EDITS_MODEL_H

#include <stdint.h>

#define MODEL_APP_MAX  4096
#define MODEL_WIRE_MAX 65536

struct model {
	uint32_t isn;                        /* number of the first byte, in both streams */
	uint32_t app_len;                    /* bytes of the app stream so far */
	uint32_t wire_len;                   /* bytes of the wire stream so far */
	uint16_t wire_of[MODEL_APP_MAX + 1]; /* where the wide byte of an app byte begins */
	uint8_t app[MODEL_APP_MAX];
	uint8_t wire[MODEL_WIRE_MAX];
	uint8_t inserted[MODEL_WIRE_MAX]; /* is this wire byte part of an edit? */
};

/* Begin a stream whose first byte has number `isn`. */
void model_start(struct model *m, uint32_t isn);

/* The app writes one byte; `edit` bytes of value `mark` are inserted before it. */
void model_write(struct model *m, uint8_t byte, uint32_t edit, uint8_t mark);

/* Largest app offset whose wide byte begins at or before wire offset `w`. */
uint32_t model_to_app(const struct model *m, uint32_t w);

/* Smallest app offset whose wide byte begins at or after wire offset `w`. */
uint32_t model_to_app_up(const struct model *m, uint32_t w);

/* Inserted bytes at or after wire offset `w`. */
uint32_t model_inserted_from(const struct model *m, uint32_t w);

#endif
