// SPDX-License-Identifier: Apache-2.0
// http.js PORT: Node's own server. WAY of the environment: what is between and around the two slices of a request.
"use strict";
const { createHash, pbkdf2 } = require("crypto");
const fs = require("fs");
const http = require("http");
const { burnSlice, idOf, PAUSE_MS } = require("./burn.js");

const pause = () => new Promise((done) => setTimeout(done, PAUSE_MS));

const WAYS = {
  none: (id, respond) => {
    burnSlice(id);
    burnSlice(id);
    respond();
  },
  await: async (id, respond) => {
    burnSlice(id);
    await pause();
    burnSlice(id);
    respond();
  },
  timer: (id, respond) => {
    burnSlice(id);
    setTimeout(() => {
      burnSlice(id);
      respond();
    }, PAUSE_MS);
  },
  then: (id, respond) => {
    burnSlice(id);
    pause().then(() => id).then((it) => burnSlice(it)).then(respond);
  },
  files: async (id, respond) => {
    burnSlice(id);
    const text = await fs.promises.readFile(__filename);
    burnSlice(id);
    createHash("sha256").update(text).digest();
    pbkdf2(id, text, 500, 32, "sha256", () => {
      burnSlice(id);
      respond();
    });
  },
};
const way = WAYS[process.env.WAY || "none"];

http.createServer((request, response) => {
  way(idOf(request.url), () => response.end("ok"));
}).listen(Number(process.argv[2]));
