/* SPDX-License-Identifier: Apache-2.0 */
/* Common parts of pictures of trees: the head, the script for zoom and search, and sizes. */
#ifndef CTXPROP_PROFILE_DRAW_FLAME_SVG_H
#define CTXPROP_PROFILE_DRAW_FLAME_SVG_H

#include <stdio.h>

#define FLAME_SVG_WIDTH     1200.0
#define FLAME_SVG_ROW       18 /* height of a frame */
#define FLAME_SVG_MARGIN    10
#define FLAME_SVG_WIDTH_MIN 0.2 /* narrower frames are not drawn */

/*
 * A Content-Security-Policy under which a picture works: its own style and script, nothing else;
 * pages of the same origin may frame it.
 */
extern const char flame_svg_policy[];

/* Of a picture with so many rows of frames. */
int flame_svg_height(int depth);

/* Up to the frames, each of which is a <g> with data-x, data-w, data-d, a title, a rect and a text.
 */
void flame_svg_begin(int height, const char *title, FILE *out);

/* Write a text that others wrote so that it is never markup. */
void flame_svg_text(const char *text, FILE *out);
void flame_svg_end(FILE *out);

#endif
