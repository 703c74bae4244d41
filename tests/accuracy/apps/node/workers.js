// SPDX-License-Identifier: Apache-2.0
/*
 * workers.js ADDRESS PORT: one thread reads requests and responds, another one (worker_threads)
 * calls for them: they post messages to each other.
 *
 * The target is the plan: /BEFORE/BETWEEN/AFTER/CALLS/MODE, pauses in ms are not made; MODE s (one
 * after the other) or p (all at once). Environment: UPSTREAM (host:port), BACKGROUND_MS (mean pause
 * between calls that belong to no request: every other one is asked for by a message).
 */
'use strict';
const http = require('http');
const {isMainThread, parentPort, Worker} = require('worker_threads');
const {call} = require('./clients');

const mean = Number(process.env.BACKGROUND_MS || 0);

function sometimes(act) {
	setTimeout(() => {
		act();
		sometimes(act);
	}, Math.random() * 4 * mean);
}

async function work(calls, mode, headers) {
	if (mode === 'p')
		await Promise.all(Array.from({length: calls}, () => call(headers)));
	for (let number = 0; mode !== 'p' && number < calls; number++)
		await call(headers);
}

function serve() {
	const worker = new Worker(__filename, {argv: process.argv.slice(2)});
	const waiting = new Map();
	let number = 0;

	worker.on('message', done => {
		waiting.get(done).end('ok');
		waiting.delete(done);
	});
	http.createServer((request, response) => {
		const [, , , calls, mode] = request.url.slice(1).split('/');

		waiting.set(++number, response);
		worker.postMessage({number, calls: +calls, mode, truth: request.headers['x-truth']});
	}).listen({host: process.argv[2], port: process.argv[3], backlog: 1024});
	if (mean)
		sometimes(() => worker.postMessage({calls: 1, truth: 'none'}));
}

function help() {
	parentPort.on('message', async ({number, calls, mode, truth}) => {
		await work(calls, mode, {'x-truth': truth});
		if (number)
			parentPort.postMessage(number);
	});
	if (mean)
		sometimes(() => call({'x-truth': 'none'}));
}

if (isMainThread)
	serve();
else
	help();
