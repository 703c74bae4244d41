// SPDX-License-Identifier: Apache-2.0
/*
 * bare.js ADDRESS PORT WAY: as server.js, by functions that have no parameters, so that these do not
 * say for which request they are.
 *
 * then: reactions; arrow: async functions that are called where they stand; middleware: what is
 * before and behind the one that calls waits for timers.
 * Where calls may be for others: turns: requests wait for each other, and calls of the program's
 * own; flush: the same, some respond when all is done; shared: who finds nobody at work calls for
 * all, and responds then; batch: the first of several does, in its timer; pair: two respond
 * together. Environment: as clients.js, and BACKGROUND_MS.
 */
'use strict';
const http = require('http');
const {call} = require('./clients');

const BATCH_MS = 5, OWN_MAX = 4;

function pause(milliseconds) {
	return new Promise(resolve => setTimeout(resolve, milliseconds));
}

function then(plan, headers, request, response) {
	pause(plan.before).then(() => call(headers)).then(() => response.end('ok'));
}

function arrow(plan, headers, request, response) {
	(async () => {
		if (plan.before)
			await pause(plan.before);
		for (let number = 0; number < plan.calls; number++) {
			if (number && plan.between)
				await pause(plan.between);
			await call(headers);
		}
		response.end('ok');
	})();
}

/* Each gets (request, response, next). */
const chain = [
	(request, response, next) => {
		setTimeout(() => next(), Math.random() * 4);
	},
	async (request, response, next) => {
		await pause(Math.random() * 4);
		await next();
	},
	(request, response, next) => pause(1).then(() => next()),
];

function middleware(plan, headers, request, response) {
	let place = 0;
	const next = () => place < chain.length ? chain[place++](request, response, next) : last();
	const last = () => {
		const calls = Array.from({length: plan.calls}, () => call(headers));

		Promise.all(calls).then(() => {
			response.statusCode = 200;
			response.end('ok');
		});
	};

	next();
}

let tail = Promise.resolve();

function turns(plan, headers, request, response) {
	const work = () => call(headers).then(() => response.end('ok'));

	tail = tail.then(() => work());
}

/* A request that makes no call only waits for the end of others'. */
function flush(plan, headers, request, response) {
	if (plan.calls)
		tail = tail.then(() => call(headers));
	tail.then(() => response.end('ok'));
}

const jobs = [];
let busy = false;

/* Its own is among them. */
function shared(plan, headers, request, response) {
	const done = () => response.end('ok');

	if (busy)
		return jobs.push({headers, done});
	busy = true;
	jobs.push({headers, done: () => {}});
	(async () => {
		while (jobs.length) {
			const job = jobs.shift();

			await call(job.headers);
			job.done();
		}
		busy = false;
		response.end('ok');
	})();
}

let batch = [];

function batched(plan, headers, request, response) {
	batch.push({headers, response});
	if (batch.length > 1)
		return;
	setTimeout(() => {
		const all = batch;
		let ready = Promise.resolve();

		batch = [];
		for (const one of all.slice(1))
			ready = ready.then(() => call(one.headers)).then(() => one.response.end('ok'));
		ready.then(() => call(headers)).then(() => response.end('ok'));
	}, BATCH_MS);
}

let pair = [];

function finish() {
	const [first, second] = pair;
	const other = first.response, one = second ? second.response : other;

	Promise.all(pair.map(each => call(each.headers))).then(() => {
		other.end();
		one.end();
	});
	pair = [];
}

/* Two that come one after the other respond together. */
function paired(plan, headers, request, response) {
	pair.push({headers, response});
	if (pair.length === 1) {
		const own = pair;

		return setTimeout(() => pair === own && finish(), BATCH_MS);
	}
	finish();
}

const ways = {
	then, arrow, middleware, turns, flush, shared, batch: batched, pair: paired,
};

/* No more than a few wait at once: who is slow would have ever more. */
async function background(mean) {
	let waiting = 0;

	for (;;) {
		await pause(Math.random() * 2 * mean);
		if (waiting >= OWN_MAX)
			continue;
		waiting++;
		tail = tail.then(() => call({'x-truth': 'none'})).then(() => {
			waiting--;
		});
	}
}

const [, , host, port, way] = process.argv;

http.createServer((request, response) => {
	const [before, between, , calls] = request.url.slice(1).split('/').map(Number);

	ways[way]({before, between, calls}, {'x-truth': request.headers['x-truth'] || 'none'},
		request, response);
}).listen({host, port, backlog: 1024});

if (process.env.BACKGROUND_MS)
	background(Number(process.env.BACKGROUND_MS));
