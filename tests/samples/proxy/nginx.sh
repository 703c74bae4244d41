#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# nginx.sh PORT FOLDER: nginx in one process: /a compresses a file (zlib), /b searches in vain for an expression (pcre2).
set -eu
folder=$2
awk 'BEGIN { srand(1); for (i = 0; i < 12000; i++) printf "%d ", rand() * 1e8 }' >"$folder/a"
cat >"$folder/nginx.conf" <<EOF
daemon off;
master_process off;
user root;
pid $folder/pid;
error_log stderr error;
events {}
http {
	access_log off;
	keepalive_requests 1000000;
	client_body_temp_path $folder;
	proxy_temp_path $folder;
	fastcgi_temp_path $folder;
	uwsgi_temp_path $folder;
	scgi_temp_path $folder;
	default_type text/plain;
	server {
		listen $1;
		location = /a {
			root $folder;
			gzip on;
			gzip_types text/plain;
		}
		location = /b {
			set \$text "aaaaaaaaaaaaaaaa!";
			if (\$text ~ "^(a+)+\$") {
				return 500;
			}
			return 200 "ok";
		}
	}
}
EOF
exec /usr/sbin/nginx -p "$folder" -c "$folder/nginx.conf"
