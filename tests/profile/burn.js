// SPDX-License-Identifier: Apache-2.0
// As burn.py, in JavaScript: burn.js PORT TRUTH. There is one thread, which burns for one request at a time.
"use strict";
const fs = require("fs");
const http = require("http");

const AFTERWARDS_US = 4000, BACKGROUND_US = 2000, PAUSE_MS = 10;
const TRUTH = fs.openSync(process.argv[3], "a");

function cpuMicroseconds() {
  const used = process.cpuUsage();
  return used.user + used.system;
}

function sumTo(count) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum = (sum + i * i) % 1000003;
  return sum;
}

function burn(request, microseconds) {
  const start = process.hrtime.bigint(), end = cpuMicroseconds() + microseconds;
  let sum = 0;
  while (cpuMicroseconds() < end) sum += sumTo(2000);
  const stop = process.hrtime.bigint();
  fs.writeSync(TRUTH, `${process.pid} ${process.pid} ${start} ${stop} ${request}\n`);
  return sum;
}

function answer(request, response) {
  const [, microseconds, name] = request.url.split("/");
  burn(name, Number(microseconds));
  response.writeHead(200, { "Content-Length": "2" });
  response.end("ok");
  setImmediate(burn, "-", AFTERWARDS_US);
}

setInterval(burn, PAUSE_MS, "-", BACKGROUND_US);
http.createServer(answer).listen(Number(process.argv[2]));
