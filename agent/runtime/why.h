/* SPDX-License-Identifier: Apache-2.0 */
/* Why a process cannot be followed: numbers, and their texts for people. */
#ifndef CTXPROP_WHY_H
#define CTXPROP_WHY_H

enum why {
	WHY_NONE,
	WHY_PROCESSOR,
	WHY_FORMAT,
	WHY_VERSION_UNTOLD,
	WHY_VERSION,
	WHY_GO_TABLE,
	WHY_GO_GOROUTINE,
	WHY_GO_RUNTIME,
	WHY_PYTHON_BUILD,
	WHY_RUBY_BUILD,
	WHY_RUBY_QUEUES,
	WHY_JAVA_MACHINE,
	WHY_DOTNET,
	WHY_REPLACED,
	WHY_TOO_LONG,
	WHY_CRASHED,
	WHY_DAMAGED,
	WHYS
};

/* Constant text, the end of a sentence; NULL: WHY_NONE, or no such number. */
const char *why_text(unsigned int why);

#endif
