// SPDX-License-Identifier: Apache-2.0
// The least that an OpenTelemetry SDK needs to carry context: spans of http, all sampled, exported nowhere.
"use strict";
const { NodeTracerProvider } = require("@opentelemetry/sdk-trace-node");
const { registerInstrumentations } = require("@opentelemetry/instrumentation");
const { HttpInstrumentation } = require("@opentelemetry/instrumentation-http");

new NodeTracerProvider().register();
registerInstrumentations({ instrumentations: [new HttpInstrumentation()] });
