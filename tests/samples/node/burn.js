// SPDX-License-Identifier: Apache-2.0
// What the servers in JavaScript burn CPU with, in functions whose names tell for which endpoint, and the file of truth
// (TRUTH of the environment: one line for each slice).
"use strict";
const fs = require("fs");

const SLICE_US = 2000, PAUSE_MS = 2, BACKGROUND_MS = 20;
const TRUTH = fs.openSync(process.env.TRUTH || "/dev/null", "a");

function cpuMicroseconds() {
  const used = process.cpuUsage();
  return used.user + used.system;
}

function sumTo(count) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum = (sum + i * i) % 1000003;
  return sum;
}

function burn_a(end) {
  let sum = 0;
  while (cpuMicroseconds() < end) sum += sumTo(2000);
  return sum;
}

function burn_b(end) {
  let sum = 1;
  while (cpuMicroseconds() < end) sum += sumTo(2000);
  return sum;
}

function burn_background(end) {
  let sum = 2;
  while (cpuMicroseconds() < end) sum += sumTo(2000);
  return sum;
}

const BURN = { a: burn_a, b: burn_b, "-": burn_background };

// For the request with this id, whose first letter is its endpoint, "-": for none.
function burnSlice(request) {
  const start = process.hrtime.bigint();
  BURN[request[0]](cpuMicroseconds() + SLICE_US);
  fs.writeSync(TRUTH, `${process.pid} ${process.pid} ${start} ${process.hrtime.bigint()} ${request}\n`);
}

// The id in a request's target.
function idOf(url) {
  return url.slice(url.indexOf("?") + 1);
}

if (process.env.BACKGROUND) setInterval(burnSlice, BACKGROUND_MS, "-");

module.exports = { burnSlice, idOf, PAUSE_MS };
