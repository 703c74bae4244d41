/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors 0, 1 and 2. */
#ifndef CTXPROP_DESCRIPTORS_H
#define CTXPROP_DESCRIPTORS_H

/*
 * Open each of the three that is closed as /dev/null. Otherwise the next file that is opened would
 * get its number, and what is meant for stderr would be written into it. Call before anything else.
 */
void descriptors_open_standard(void);

#endif
