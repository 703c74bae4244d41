/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of OTLP (proto/), which protoc-c has made structures of, by shorter names. */
#ifndef CTXPROP_OTLP_MESSAGES_H
#define CTXPROP_OTLP_MESSAGES_H

#include "opentelemetry/proto/collector/trace/v1/trace_service.pb-c.h"

typedef Opentelemetry__Proto__Common__V1__AnyValue otlp_value;
typedef Opentelemetry__Proto__Common__V1__KeyValue otlp_attribute;
typedef Opentelemetry__Proto__Common__V1__InstrumentationScope otlp_scope;
typedef Opentelemetry__Proto__Resource__V1__Resource otlp_resource;
typedef Opentelemetry__Proto__Trace__V1__ResourceSpans otlp_resource_spans;
typedef Opentelemetry__Proto__Trace__V1__ScopeSpans otlp_scope_spans;
typedef Opentelemetry__Proto__Trace__V1__Span otlp_span;
typedef Opentelemetry__Proto__Trace__V1__Status otlp_status;
typedef Opentelemetry__Proto__Collector__Trace__V1__ExportTraceServiceRequest otlp_request;
typedef Opentelemetry__Proto__Collector__Trace__V1__ExportTraceServiceResponse otlp_response;

#endif
