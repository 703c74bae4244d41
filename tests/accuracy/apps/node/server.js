// SPDX-License-Identifier: Apache-2.0
/*
 * server.js ADDRESS PORT: Node's http, server and client in one event loop.
 *
 * The target is the plan: /BEFORE/BETWEEN/AFTER/CALLS/MODE, pauses in ms, MODE s (one after the
 * other) or p (all at once). Environment: UPSTREAM (host:port), COPY (names of fields that go from
 * the request to its calls), KEEP (1: a keep-alive agent; 0: a connection per call),
 * CONNECTIONS (most connections to the upstream), BACKGROUND_MS (mean pause between calls that
 * belong to no request).
 */
'use strict';
const http = require('http');

const [host, port] = process.env.UPSTREAM.split(':');
const copy = (process.env.COPY || 'x-truth').split(',');
const agent = new http.Agent({
	keepAlive: process.env.KEEP !== '0',
	maxSockets: Number(process.env.CONNECTIONS || Infinity),
});

function pause(milliseconds) {
	return new Promise(resolve => setTimeout(resolve, milliseconds));
}

function call(headers) {
	return new Promise((resolve, reject) => {
		http.get({host, port, path: '/', headers, agent}, answer => {
			answer.resume();
			answer.on('end', resolve);
		}).on('error', reject);
	});
}

/* Without pauses there is no timer between a read and the call that it leads to. */
async function work(plan, headers) {
	const [before, between, after, calls, mode] = plan;

	if (+before)
		await pause(+before);
	if (mode === 'p')
		await Promise.all(Array.from({length: +calls}, () => call(headers)));
	for (let number = 0; mode === 's' && number < +calls; number++) {
		if (number && +between)
			await pause(+between);
		await call(headers);
	}
	if (+after)
		await pause(+after);
}

function copied(request) {
	const headers = {};

	for (const name of copy)
		if (request.headers[name])
			headers[name] = request.headers[name];
	return headers;
}

async function background(mean) {
	for (;;) {
		await pause(Math.random() * 2 * mean);
		await call({'x-truth': 'none'});
	}
}

http.createServer(async (request, response) => {
	await work(request.url.slice(1).split('/'), copied(request));
	response.end('ok');
}).listen({host: process.argv[2], port: process.argv[3], backlog: 1024});

if (process.env.BACKGROUND_MS)
	background(Number(process.env.BACKGROUND_MS));
