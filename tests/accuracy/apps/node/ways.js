// SPDX-License-Identifier: Apache-2.0
/*
 * ways.js ADDRESS PORT WAY: as server.js, in ways that programs are written in beside async
 * functions which wait for each other, and in which calls of requests wait behind other ones.
 *
 * callbacks: no promise; list: a list of jobs, who is done begins the next; chain: each call waits
 * for the promise of the one before, after() or before it begins (chain-await); drain: whoever finds
 * nobody at work does all jobs of a list. Environment: as clients.js, and BACKGROUND_MS (mean pause
 * between calls of the program's own, which wait as all do), BEHIND (1: one more call after the
 * response, which belongs to no request).
 */
'use strict';
const http = require('http');
const {call} = require('./clients');

const LIMIT = 3;

function pause(milliseconds) {
	return new Promise(resolve => setTimeout(resolve, milliseconds));
}

function callThen(headers, done) {
	call(headers).then(answer => done(answer), () => done());
}

const jobs = [];
let running = 0;

function begin() {
	while (running < LIMIT && jobs.length) {
		const job = jobs.shift();

		running++;
		callThen(job.headers, () => {
			running--;
			job.done();
			begin();
		});
	}
}

function listed(headers, done) {
	jobs.push({headers, done});
	begin();
}

let tail = Promise.resolve();

/* The next one does not take the answer: it only waits for its turn. */
function chained(headers) {
	const answer = tail.then(() => call(headers));

	tail = answer.catch(() => {});
	return answer;
}

function chainedByAwait(headers) {
	const previous = tail;
	const answer = (async () => {
		await previous;
		return call(headers);
	})();

	tail = answer.catch(() => {});
	return answer;
}

/* Its function is made where the variables of a request are. */
function drains(request, response) {
	response.on('close', () => {
		response.gone = true;
	});
	return headers => new Promise(resolve => {
		jobs.push({headers, resolve});
		if (running >= LIMIT)
			return;
		running++;
		(async () => {
			while (jobs.length) {
				const job = jobs.shift();

				await call(job.headers);
				job.resolve();
			}
			running--;
		})();
	});
}

/* One after the other; done() when all are. */
function steps(plan, ask, number, done) {
	const [before, between, after, calls] = plan.map(Number);
	const next = () => ask(() => steps(plan, ask, number + 1, done));

	if (number >= calls)
		return after ? setTimeout(done, after) : done();
	const wait = number ? between : before;

	return wait ? setTimeout(next, wait) : next();
}

async function work(plan, next) {
	const [before, between, after, calls] = plan.map(Number);

	if (before)
		await pause(before);
	for (let number = 0; number < calls; number++) {
		if (number && between)
			await pause(between);
		await next();
	}
	if (after)
		await pause(after);
}

function byCallbacks(ask) {
	return (request, response) => {
		const headers = {'x-truth': request.headers['x-truth'] || 'none'};

		steps(request.url.slice(1).split('/'), done => ask(headers, done), 0,
			() => response.end('ok'));
	};
}

function byPromises(ask) {
	return async (request, response) => {
		const headers = {'x-truth': request.headers['x-truth'] || 'none'};

		await work(request.url.slice(1).split('/'), () => ask(headers));
		response.end('ok');
		if (process.env.BEHIND)
			ask({'x-truth': 'none'});
	};
}

const ways = {
	'callbacks': byCallbacks(callThen),
	'list': byCallbacks(listed),
	'chain': byPromises(chained),
	'chain-await': byPromises(chainedByAwait),
	'drain': (request, response) =>
		byPromises(drains(request, response))(request, response),
};

async function background(mean, ask) {
	for (;;) {
		await pause(Math.random() * 2 * mean);
		ask({'x-truth': 'none'});
	}
}

const [, , host, port, way] = process.argv;

http.createServer(ways[way]).listen({host, port, backlog: 1024});

if (process.env.BACKGROUND_MS)
	background(Number(process.env.BACKGROUND_MS), way === 'chain' ? chained : chainedByAwait);
