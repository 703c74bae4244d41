/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors 0, 1 and 2. */
#ifndef CTXPROP_DESCRIPTORS_H
#define CTXPROP_DESCRIPTORS_H

/*
 * Open those of the three that the caller has closed, as /dev/null: else the next file that is
 * opened takes such a number, and gets what is meant for stderr. Call before anything else.
 */
void descriptors_open_standard(void);

#endif
