/* SPDX-License-Identifier: Apache-2.0 */
/* Header fields that every request of the exporter carries, out of a file: keys of receivers. */
#ifndef CTXPROP_OTLP_HEADERS_H
#define CTXPROP_OTLP_HEADERS_H

#include <stddef.h>
#include <curl/curl.h>

#define HEADERS_LINE_MAX 8192

/*
 * Append the lines `Name: value` of a file to `list`; empty ones and those with # in front do not
 * count. The file must not be readable for everybody. Returns 0, or -errno after the reason was
 * written to `ret_why`: -EPERM for such a file, -EBADMSG for a line that is no field. The list is
 * the caller's either way.
 */
int headers_read(const char *path, struct curl_slist **list, char *ret_why, size_t size);

#endif
