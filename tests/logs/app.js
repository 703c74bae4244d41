// SPDX-License-Identifier: Apache-2.0
// A service that logs, as app.py does, in one loop of Node: app.js PORT LOG
"use strict";
const fs = require("fs");
const http = require("http");

const [port, path] = process.argv.slice(2);
const log = fs.openSync(path, "a");
const BEAT_MS = 2;

function put(fd, ...pieces) {
	const us = Math.trunc((performance.timeOrigin + performance.now()) * 1000);

	for (const piece of pieces)
		fs.writeSync(fd, piece);
	fs.writeSync(log, JSON.stringify([fd, pieces.join(""), process.pid, process.pid, us]) + "\n");
}

const later = (ms) => new Promise((done) => setTimeout(done, ms));

http.createServer(async (request, response) => {
	const number = Number(request.url.split("/").pop());

	put(1, `number=${number} begins\n`);
	put(2, `{"number": ${number}, "text": "ä{}"}\n`);
	await later(number % 4);
	put(2, `number=${number} in `, "two pieces", "\n");
	put(1, `number=${number} with a return\r\n`);
	response.writeHead(200, { "Content-Length": 2 });
	response.end("ok", () => put(1, `number=${number} is over\n`));
}).listen(Number(port));

let beats = 0;
setInterval(() => put(1 + beats % 2, `beat ${beats++}\n`), BEAT_MS);
