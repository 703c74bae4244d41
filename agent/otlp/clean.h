/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_OTLP_CLEAN_H
#define CTXPROP_OTLP_CLEAN_H

/*
 * Put a question mark in place of every byte that is no part of a character in UTF-8 (RFC 3629):
 * strings of protobuf have to be valid, or receivers refuse the message that holds them.
 */
void otlp_clean(char *text);

#endif
