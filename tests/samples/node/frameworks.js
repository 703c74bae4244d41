// SPDX-License-Identifier: Apache-2.0
// frameworks.js PORT express|fastify|koa|nest: the same work by frameworks from npm (NODE_PATH says where they are).
"use strict";
const { burnSlice, idOf, PAUSE_MS } = require("./burn.js");

async function work(url) {
  const id = idOf(url);
  burnSlice(id);
  await new Promise((done) => setTimeout(done, PAUSE_MS));
  burnSlice(id);
}

// What Nest's decorators do, which this language has not.
function nestModule({ Controller, Get, Module, Req }) {
  class Endpoints {
    async answer(request) {
      await work(request.url);
      return "ok";
    }
  }
  Get(["a", "b"])(Endpoints.prototype, "answer", Object.getOwnPropertyDescriptor(Endpoints.prototype, "answer"));
  Req()(Endpoints.prototype, "answer", 0);
  Controller()(Endpoints);
  class Main {}
  Module({ controllers: [Endpoints] })(Main);
  return Main;
}

const FRAMEWORKS = {
  express: (port) => {
    const app = require("express")();
    app.get(["/a", "/b"], async (request, response) => {
      await work(request.url);
      response.send("ok");
    });
    app.listen(port);
  },
  fastify: (port) => {
    const app = require("fastify")();
    for (const path of ["/a", "/b"]) {
      app.get(path, async (request) => {
        await work(request.url);
        return "ok";
      });
    }
    app.listen({ port, host: "0.0.0.0" });
  },
  koa: (port) => {
    const app = new (require("koa"))();
    app.use(async (context) => {
      await work(context.url);
      context.body = "ok";
    });
    app.listen(port);
  },
  nest: async (port) => {
    require("reflect-metadata");
    const app = await require("@nestjs/core").NestFactory.create(nestModule(require("@nestjs/common")), { logger: false });
    await app.listen(port);
  },
};

FRAMEWORKS[process.argv[3]](Number(process.argv[2]));
