/* SPDX-License-Identifier: Apache-2.0 */
/* What runs a process, and why it cannot be followed: numbers, and their texts for people. */
#ifndef CTXPROP_WHY_H
#define CTXPROP_WHY_H

enum language {
	LANGUAGE_NONE, /* none that is looked into */
	LANGUAGE_GO,
	LANGUAGE_PYTHON,
	LANGUAGE_RUBY,
	LANGUAGE_JAVA,
	LANGUAGE_DOTNET,
	LANGUAGES
};

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

/* Constant text; NULL: LANGUAGE_NONE, or no such number. */
const char *language_text(unsigned int language);

/* Constant text, the end of a sentence; NULL: WHY_NONE, or no such number. */
const char *why_text(unsigned int why);

#endif
