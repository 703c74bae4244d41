// SPDX-License-Identifier: Apache-2.0
#include "otlp/attributes.h"

/* The value of one more attribute; NULL: there is no room. */
static otlp_value *add(struct otlp_attributes *attributes, const char *key)
{
	size_t at = attributes->count;
	otlp_attribute *attribute = &attributes->attribute[at];
	otlp_value *value = &attributes->value[at];

	if (at == OTLP_ATTRIBUTES_MAX)
		return NULL;
	opentelemetry__proto__common__v1__key_value__init(attribute);
	opentelemetry__proto__common__v1__any_value__init(value);
	attribute->key = (char *)key;
	attribute->value = value;
	attributes->list[attributes->count++] = attribute;
	return value;
}

void otlp_attributes_text(struct otlp_attributes *attributes, const char *key, const char *text)
{
	otlp_value *value = text && *text ? add(attributes, key) : NULL;

	if (!value)
		return;
	value->value_case = OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_STRING_VALUE;
	value->string_value = (char *)text;
}

void otlp_attributes_number(struct otlp_attributes *attributes, const char *key, __s64 number)
{
	otlp_value *value = number ? add(attributes, key) : NULL;

	if (!value)
		return;
	value->value_case = OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_INT_VALUE;
	value->int_value = number;
}
