#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# haproxy.sh PORT FOLDER: HAProxy that answers by itself: /a makes sums (libcrypto), /b searches in vain for an expression (pcre2).
set -eu
here=$(dirname "$0")
cat >"$2/haproxy.cfg" <<EOF
global
	nbthread 1
	lua-load $here/burn.lua
defaults
	mode http
	timeout client 60s
frontend burn
	bind :$1
	http-request lua.burn if { path /a }
	http-request deny if { path /b } { str(aaaaaaaaaaaaaaaa!) -m reg (*NO_JIT)^(a+)+\$ }
	http-request return status 200 content-type text/plain string ok
EOF
exec /usr/sbin/haproxy -q -db -f "$2/haproxy.cfg"
