# SPDX-License-Identifier: Apache-2.0
"""What rows need beside their sources: programs that are compiled, packages, another Java."""
import os
import shutil
import subprocess
from pathlib import Path

import world
from javas import java_21

HERE = Path(__file__).resolve().parent
PACKAGES = ("express@4.21.2", "fastify@4.28.1", "koa@2.15.3", "@nestjs/core@10.4.9", "@nestjs/common@10.4.9",
            "@nestjs/platform-express@10.4.9", "reflect-metadata@0.2.2", "rxjs@7.8.1")
NPM_SECONDS = 300
DEBIAN_GO = "/usr/share/gocode"  # where Debian's packages for Go are

RECIPES = {
    "go": ("go", "go build -o {made}/go/server .",
           {"GO111MODULE": "off", "GOPATH": DEBIAN_GO, "GOFLAGS": "", "CGO_ENABLED": "0", "GOCACHE": "{made}/go-cache"}),
    "java": ("java", "javac -d {made}/java Burn.java Server.java", {}),
    "tomcat": ("java", "javac -d {made}/java -cp {tomcat} Burn.java Servlet.java", {}),
    "jetty": ("java", "javac -d {made}/java -cp {jetty} Burn.java JettyServer.java", {}),
    "rust": ("rust", "./build.sh {made}/rust", {}),
}


def npm_folder():
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ctxprop-npm"
    return cache / "samples"


def npm():
    """The frameworks for Node, fetched once. False: there is no npm."""
    there = npm_folder() / "node_modules"
    names = [package.rpartition("@")[0] for package in PACKAGES]
    if not all((there / name).exists() for name in names) and shutil.which("npm"):
        npm_folder().mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--prefix", npm_folder(), "--no-save", "--ignore-scripts", "--no-audit", "--no-fund",
                        "--silent", *PACKAGES], check=True, timeout=NPM_SECONDS)
    return there.exists()


def gem(name):
    """Has Debian this one?"""
    return any(Path("/usr/share/rubygems-integration/all/specifications").glob(f"{name}-*"))


NEEDS = {
    **world.MAY_BE_ABSENT,
    "npm": (npm, "npm"),
    "errgroup": ((Path(DEBIAN_GO) / "src/golang.org/x/sync/errgroup").exists, "errgroup of Go (golang-golang-x-sync-dev)"),
    "sinatra": (lambda: gem("sinatra"), "Sinatra (ruby-sinatra)"),
    "async": (lambda: gem("async-http"), "Async::HTTP (ruby-async-http)"),
}


def missing(row):
    """What is not there, in words; "": nothing."""
    is_there, what = NEEDS.get(row.needs, (lambda: True, ""))
    return "" if is_there() else what


def make(row, made):
    """Compile what has to be."""
    if row.make:
        world.make(row.make, made, HERE, RECIPES)


def values():
    """What stands for the placeholders of commands."""
    return {"npm": npm_folder(), "java_21": java_21(), "tomcat": world.tomcat(), "jetty": world.jetty()}
