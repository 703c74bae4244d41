#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# nginx in one process, which burns CPU in a regular expression that has to try millions of ways, and answers
# everything with "ok": burn_nginx.sh PORT TRUTH. It writes no truth; its files are beside where that would be.
set -eu
folder=$(dirname "$2")/nginx
mkdir -p "$folder"
cat >"$folder/nginx.conf" <<EOF
daemon off;
master_process off;
pid $folder/pid;
error_log $folder/error.log;
events {}
http {
	access_log off;
	client_body_temp_path $folder;
	proxy_temp_path $folder;
	fastcgi_temp_path $folder;
	uwsgi_temp_path $folder;
	scgi_temp_path $folder;
	server {
		listen $1;
		location / {
			set \$text "aaaaaaaaaaaaaaaaaaaa!";
			if (\$text ~ "^(a+)+\$") {
				return 500;
			}
			return 200 "ok";
		}
	}
}
EOF
exec /usr/sbin/nginx -p "$folder" -c "$folder/nginx.conf"
