// SPDX-License-Identifier: Apache-2.0
/*
 * server.js ADDRESS PORT: Node's http, server and client in one event loop.
 *
 * The target is the plan: /BEFORE/BETWEEN/AFTER/CALLS/MODE, pauses in ms, MODE s (one after the
 * other), p (all at once), d (one after the other, each after something was asked for, see
 * store.js) or f (the same, after what other threads do: a file is read, a hash is computed). Environment: UPSTREAM (host:port), COPY (names of fields that go from the request to
 * its calls), BACKGROUND_MS (mean pause between calls that belong to no request), and what
 * clients.js, store.js and turns.js tell.
 */
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const http = require('http');
const {call} = require('./clients');
const store = require('./store');
const {takeTurns} = require('./turns');

const copy = (process.env.COPY || 'x-truth').split(',');

function pause(milliseconds) {
	return new Promise(resolve => setTimeout(resolve, milliseconds));
}

/* Several times one after the other, where it is a file; its end is told by a promise or not. */
function byOtherThreads(number) {
	if (number % 2)
		return fs.promises.readFile(__filename);
	return new Promise(resolve => crypto.pbkdf2('x', 'y', 100, 16, 'sha256', resolve));
}

/* Without pauses there is no timer between a read and the call that it leads to. */
async function work(plan, headers) {
	const [before, between, after, calls, mode] = plan;
	const next = () => takeTurns(() => call(headers));

	if (+before)
		await pause(+before);
	if (mode === 'p')
		await Promise.all(Array.from({length: +calls}, next));
	for (let number = 0; mode !== 'p' && number < +calls; number++) {
		if (number && +between)
			await pause(+between);
		if (mode === 'd')
			await store.ask();
		if (mode === 'f')
			await byOtherThreads(number);
		await next();
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

const server = http.createServer(async (request, response) => {
	await work(request.url.slice(1).split('/'), copied(request));
	response.end('ok');
});

store.connect().then(() => {
	server.listen({host: process.argv[2], port: process.argv[3], backlog: 1024});
});

if (process.env.BACKGROUND_MS)
	background(Number(process.env.BACKGROUND_MS));
