#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fpm.sh PORT FOLDER: nginx and, behind a unix socket, PHP-FPM with eight children.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$2
cat >"$folder/fpm.conf" <<EOF
[global]
error_log = /proc/self/fd/2
daemonize = no
[www]
listen = $folder/fpm.sock
listen.backlog = 1024
user = root
group = root
pm = static
pm.max_children = 8
clear_env = no
EOF
cat >"$folder/nginx.conf" <<EOF
daemon off;
user root;
worker_processes 1;
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
	server {
		listen $1;
		location / {
			fastcgi_pass unix:$folder/fpm.sock;
			fastcgi_param SCRIPT_FILENAME $here/index.php;
			fastcgi_param REQUEST_METHOD \$request_method;
			fastcgi_param REQUEST_URI \$request_uri;
			fastcgi_param QUERY_STRING \$query_string;
			fastcgi_param SERVER_PROTOCOL \$server_protocol;
		}
	}
}
EOF
for fpm in /usr/sbin/php-fpm*; do :; done # the newest
"$fpm" -R -F -y "$folder/fpm.conf" &
while [ ! -S "$folder/fpm.sock" ]; do sleep 0.05; done
exec /usr/sbin/nginx -p "$folder" -c "$folder/nginx.conf"
