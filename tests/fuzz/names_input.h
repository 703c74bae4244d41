/* SPDX-License-Identifier: Apache-2.0 */
/* What names_fuzz takes and names_seeds writes; the memory stands behind it. */
#ifndef CTXPROP_FUZZ_NAMES_INPUT_H
#define CTXPROP_FUZZ_NAMES_INPUT_H

#include "runtimes/compiled.h"

struct names_input {
	struct runtime_compiled compiled;
	__u64 address, check;
	__u8 layout, depth;
	__u8 right; /* odd: the check word is that of what stands there, not `check` */
	__u8 is_inner; /* odd: functions that were put into another one are asked for */
	__u8 reserved[4];
};

#endif
