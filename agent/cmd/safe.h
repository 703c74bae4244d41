/* SPDX-License-Identifier: Apache-2.0 */
/* Text that came over the network, for terminals: whatever it was, it holds no control codes. */
#ifndef CTXPROP_CMD_SAFE_H
#define CTXPROP_CMD_SAFE_H

/* Print it; other bytes are shown as they are, for it may be UTF-8. NULL is allowed. */
void safe_print(const char *text);

/* Make a buffer's text so. */
void safe_make(char *text);

#endif
