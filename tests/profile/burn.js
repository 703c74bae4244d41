// SPDX-License-Identifier: Apache-2.0
// As burn.py, in JavaScript: burn.js PORT TRUTH. There is one thread, which burns for one request at a time.
"use strict";
const fs = require("fs");
const http = require("http");

const AFTERWARDS_US = 4000, BACKGROUND_US = 2000, PAUSE_MS = 10, NAP_MS = 100;
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

// When it is optimised its callers have it in their code.
function step() {
  let sum = 0;
  for (let i = 0; i < 10; i++) sum += sumTo(2000);
  return sum;
}

function burn(request, microseconds) {
  const start = process.hrtime.bigint(), end = cpuMicroseconds() + microseconds;
  let sum = 0;
  while (cpuMicroseconds() < end) sum += step();
  tell(start, request);
  return sum;
}

function tell(start, what) {
  const stop = process.hrtime.bigint();
  fs.writeSync(TRUTH, `${process.pid} ${process.pid} ${start} ${stop} ${what}\n`);
}

async function takeNap(request) {
  const start = process.hrtime.bigint();
  await new Promise((done) => setTimeout(done, NAP_MS));
  tell(start, `${request}.take_nap`);
}

async function answer(request, response) {
  const [, microseconds, name, action] = request.url.split("/");
  burn(name, Number(microseconds));
  if (action === "wait") await takeNap(name);
  response.writeHead(200, { "Content-Length": "2" });
  response.end("ok");
  setImmediate(burn, "-", AFTERWARDS_US);
}

setInterval(burn, PAUSE_MS, "-", BACKGROUND_US);
http.createServer(answer).listen(Number(process.argv[2]));
