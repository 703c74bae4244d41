// SPDX-License-Identifier: Apache-2.0
/*
 * Calls that wait for each other. Environment: LIMIT (most at once; who is done begins the next
 * one), BATCH (so many wait for each other, or BATCH_MS, and are begun by the last), STACK (1: all
 * that are asked for in one turn of the loop are begun at its end, the last one first).
 */
'use strict';
const BATCH_MS = 5;

const limit = Number(process.env.LIMIT || Infinity);
const size = Number(process.env.BATCH || 1);
const waiting = [];
let running = 0, batch = [];

async function limited(work) {
	if (running >= limit)
		await new Promise(resolve => waiting.push(resolve));
	running++;
	try {
		return await work();
	} finally {
		running--;
		if (waiting.length)
			waiting.shift()();
	}
}

function begin(all) {
	if (all === batch)
		batch = [];
	for (const one of all.splice(0))
		one.work().then(one.resolve, one.reject);
}

function batched(work) {
	return new Promise((resolve, reject) => {
		const own = batch;

		own.push({work, resolve, reject});
		if (own.length >= size)
			begin(own);
		else if (own.length === 1)
			setTimeout(begin, BATCH_MS, own);
	});
}

const stack = [];

function beginStack() {
	while (stack.length) {
		const one = stack.pop();

		one.work().then(one.resolve, one.reject);
	}
}

function stacked(work) {
	return new Promise((resolve, reject) => {
		if (!stack.length)
			setImmediate(beginStack);
		stack.push({work, resolve, reject});
	});
}

const begun = process.env.STACK ? stacked : limited;

exports.takeTurns = size > 1 ? batched : begun;
