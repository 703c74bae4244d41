// SPDX-License-Identifier: Apache-2.0
/*
 * How calls are made. Environment: UPSTREAM (host:port), CLIENT (http; fetch: the global one),
 * CONNECTIONS (most connections to the upstream); for http: KEEP (1: a keep-alive agent; 0: a
 * connection per call), LOOKUP (own: one look-up of a name for all who want it meanwhile).
 * LATER (1: begun from setImmediate(), as fetch() does with kept connections since Node 22.23).
 */
'use strict';
const dns = require('dns');
const http = require('http');

const [host, port] = process.env.UPSTREAM.split(':');
const connections = Number(process.env.CONNECTIONS || Infinity);

/* Who waits for the address of a name. */
const waiting = new Map();

function lookupShared(name, options, done) {
	const key = `${name} ${JSON.stringify(options)}`;

	if (waiting.has(key))
		return waiting.get(key).push(done);
	waiting.set(key, [done]);
	dns.lookup(name, options, (...found) => {
		const all = waiting.get(key);

		waiting.delete(key);
		all.reverse().forEach(one => one(...found));
	});
}

const agent = new http.Agent({
	keepAlive: process.env.KEEP !== '0',
	maxSockets: connections,
	lookup: process.env.LOOKUP === 'own' ? lookupShared : undefined,
});

function callByAgent(headers) {
	return new Promise((resolve, reject) => {
		http.get({host, port, path: '/', headers, agent}, answer => {
			answer.resume();
			answer.on('end', resolve);
		}).on('error', reject);
	});
}

/* Of fetch() that keeps to the number of connections; its class is not exported otherwise. */
let dispatcher;

async function callByFetch(headers) {
	if (!dispatcher && connections < Infinity) {
		await fetch('data:,');
		const {constructor} = globalThis[Symbol.for('undici.globalDispatcher.1')];
		dispatcher = dispatcher || new constructor({connections});
	}
	await (await fetch(`http://${host}:${port}/`, {headers, dispatcher})).text();
}

const callNow = process.env.CLIENT === 'fetch' ? callByFetch : callByAgent;

function callLater(headers) {
	return new Promise((resolve, reject) => {
		setImmediate(() => callNow(headers).then(resolve, reject));
	});
}

exports.call = process.env.LATER ? callLater : callNow;
