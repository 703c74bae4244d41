#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# build.sh FOLDER: build the server there, of Debian's packages, without a network.
set -eu
cp Cargo.toml main.rs "$1"
cd "$1"
exec cargo build --offline --release --quiet \
	--config 'source.crates-io.replace-with="debian"' \
	--config 'source.debian.directory="/usr/share/cargo/registry"'
