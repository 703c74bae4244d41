// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "model.h"

void model_start(struct model *m, uint32_t isn)
{
	m->isn = isn;
	m->app_len = m->wire_len = 0;
	m->wire_of[0] = 0;
}

void model_write(struct model *m, uint8_t byte, uint32_t edit, uint8_t mark)
{
	assert_true(m->app_len < MODEL_APP_MAX && m->wire_len + edit < MODEL_WIRE_MAX - 1);
	m->wire_of[m->app_len] = m->wire_len;
	memset(m->wire + m->wire_len, mark, edit);
	memset(m->inserted + m->wire_len, 1, edit);
	m->wire_len += edit;
	m->wire[m->wire_len] = byte;
	m->inserted[m->wire_len++] = 0;
	m->app[m->app_len++] = byte;
	m->wire_of[m->app_len] = m->wire_len;
}

uint32_t model_to_app(const struct model *m, uint32_t w)
{
	uint32_t a = m->app_len;

	while (m->wire_of[a] > w)
		a--;
	return a;
}

uint32_t model_to_app_up(const struct model *m, uint32_t w)
{
	uint32_t a = 0;

	while (m->wire_of[a] < w)
		a++;
	return a;
}

uint32_t model_inserted_from(const struct model *m, uint32_t w)
{
	uint32_t n = 0;

	for (; w < m->wire_len; w++)
		n += m->inserted[w];
	return n;
}
