// SPDX-License-Identifier: Apache-2.0
// A receiver of OTLP/HTTP, which reads by the definitions of OpenTelemetry for JavaScript and does
// what it is told: receiver.js DEFINITIONS PORT [KEY CERTIFICATE]
//
// Each line of standard input is how to answer to the next requests, an array of [WAY, VALUE]; what
// comes behind them is answered as it should be, and so are log records. Each request becomes a line
// of standard output.
"use strict";
const fs = require("fs");
const zlib = require("zlib");
const readline = require("readline");

const [definitions, port, key, certificate] = process.argv.slice(2);
const { trace: { v1: trace }, logs: { v1: logs } } =
	require(definitions).opentelemetry.proto.collector;
let ways = [];

function valueOf(value) {
	return value.stringValue ?? Number(value.intValue);
}

function attributesOf(list) {
	return list.map((attribute) => [attribute.key, valueOf(attribute.value)]);
}

function spanOf(span, resource, scope) {
	return {
		resource: attributesOf(resource.attributes),
		scope: [scope.name, scope.version],
		trace_id: Buffer.from(span.traceId).toString("hex"),
		span_id: Buffer.from(span.spanId).toString("hex"),
		parent_id: Buffer.from(span.parentSpanId || []).toString("hex"),
		name: span.name,
		kind: span.kind,
		flags: span.flags,
		start_ns: span.startTimeUnixNano.toString(),
		end_ns: span.endTimeUnixNano.toString(),
		status: span.status ? span.status.code : 0,
		attributes: attributesOf(span.attributes),
	};
}

function spansIn(body) {
	const request = trace.ExportTraceServiceRequest.decode(zlib.gunzipSync(body));

	return request.resourceSpans.flatMap((of) =>
		of.scopeSpans.flatMap((scoped) =>
			scoped.spans.map((span) => spanOf(span, of.resource, scoped.scope))));
}

function logsIn(body) {
	const request = logs.ExportLogsServiceRequest.decode(zlib.gunzipSync(body));

	return request.resourceLogs.flatMap((of) =>
		of.scopeLogs.flatMap((scoped) => scoped.logRecords.map((record) => ({
			resource: attributesOf(of.resource.attributes),
			scope: [scoped.scope.name, scoped.scope.version],
			time_ns: record.timeUnixNano.toString(),
			observed_ns: record.observedTimeUnixNano.toString(),
			severity: [record.severityNumber, record.severityText],
			body: valueOf(record.body),
			attributes: attributesOf(record.attributes),
		}))));
}

function answer(response, status, body, fields) {
	response.writeHead(status, { "Content-Length": body.length, ...fields });
	response.end(body);
}

function partial(rejected) {
	return trace.ExportTraceServiceResponse.encode({
		partialSuccess: { rejectedSpans: rejected, errorMessage: "some are\nnot wanted" },
	}).finish();
}

// What is done with a request, by name.
const WAYS = {
	ok: (response) => answer(response, 200, ""),
	status: (response, status) => answer(response, status, "no"),
	wait: (response, [status, until]) => answer(response, status, "", { "Retry-After": until }),
	partial: (response, rejected) => answer(response, 200, partial(rejected)),
	redirect: (response, to) => answer(response, 307, "", { Location: to }),
	nonsense: (response) => answer(response, 200, Buffer.from("\xff\xff\xff<html>", "latin1")),
	endless: (response) => {
		response.writeHead(200);
		const more = setInterval(() => response.write(Buffer.alloc(65536)), 10);
		response.on("close", () => clearInterval(more));
	},
	cut: (response) => {
		response.writeHead(200, { "Content-Length": 100 });
		response.write("half", () => response.socket.destroy());
	},
	stalled: (response) => {
		response.writeHead(200, { "Content-Length": 100 });
		response.write("half");
	},
	garbage: (response) => response.socket.end("\x16\x03\x01 this is not HTTP\r\n\r\n"),
	hang_up: (response) => response.socket.destroy(),
	late: (response, seconds) => setTimeout(() => answer(response, 200, ""), 1000 * seconds),
};

function serve(request, response) {
	const parts = [];
	const begin = Date.now();

	request.on("data", (part) => parts.push(part));
	request.on("end", () => {
		if (request.url.endsWith("/v1/logs")) {
			console.log(JSON.stringify({ logs: logsIn(Buffer.concat(parts)) }));
			WAYS.ok(response);
			return;
		}
		const [way, value] = ways.shift() || ["ok"];
		console.log(JSON.stringify({
			way, time: begin / 1000, path: request.url, method: request.method,
			fields: request.headers, port: request.socket.remotePort,
			spans: spansIn(Buffer.concat(parts)),
		}));
		WAYS[way](response, value);
	});
}

const server = key ?
	require("https").createServer({ key: fs.readFileSync(key), cert: fs.readFileSync(certificate) },
		serve) :
	require("http").createServer(serve);
server.listen(Number(port), "127.0.0.1");
readline.createInterface({ input: process.stdin }).on("line", (line) => {
	ways = JSON.parse(line);
	console.log(JSON.stringify({ told: ways.length }));
});
