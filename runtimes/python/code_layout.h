/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Where CPython has what is needed of code objects: what sampler and user space both know. */
#ifndef CTXPROP_RUNTIMES_PYTHON_CODE_LAYOUT_H
#define CTXPROP_RUNTIMES_PYTHON_CODE_LAYOUT_H

/* struct profile_sample.named_layout: the versions that differ. */
enum python_code_layout {
	PYTHON_CODE_NONE,
	PYTHON_CODE_3_10, /* and 3.9 */
	PYTHON_CODE_3_11,
	PYTHON_CODE_3_12, /* and 3.13 */
};

/* PyCodeObject.co_name: the address of a text object. It is the check word of a code object. */
#define PYTHON_CODE_NAME_3_10 112
#define PYTHON_CODE_NAME      120 /* since 3.11 */

#endif
