#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the files beside it below /usr/local, once their checksums were found right; or removes
# them. The service is neither enabled nor started. As root:
#   ./install.sh            install, or upgrade
#   ./install.sh --remove   what was installed; /etc/ctxprop and /var/lib/ctxprop stay
set -eu

here=$(cd "$(dirname "$0")" && pwd)
home=/usr/local/lib/ctxprop
list=$home/installed # what is to be removed again, a path in each line
pins=/sys/fs/bpf/ctxprop

fail() {
	echo "install.sh: $*" >&2
	exit 1
}

# Nothing is installed that is not in the list, nor anything if one of them is another.
verify() {
	(cd "$here" && sha256sum -c SHA256SUMS >/dev/null 2>&1) || fail "files differ from SHA256SUMS; get the tarball anew"
}

# The paths of what comes with it, below /.
files() {
	sed 's|^[0-9a-f]*  root/||' "$here/SHA256SUMS"
}

# Under another name first: a program that runs keeps its file. A file of configuration that is there is kept.
put() {
	case $1 in
	etc/*) [ ! -e "/$1" ] || return 0 ;;
	esac
	mkdir -p "/$(dirname "$1")"
	cp -p "$here/root/$1" "/$1.new"
	chown 0:0 "/$1.new"
	mv "/$1.new" "/$1"
}

# What the version before had, and this one has not.
remove_older() {
	[ -e "$list" ] || return 0
	files | grep -v '^etc/' >"$list.new"
	grep -vxF -f "$list.new" "$list" | while read -r path; do rm -f "/$path"; done
}

reload() {
	if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
}

install_files() {
	verify
	files | while read -r path; do put "$path"; done
	remove_older
	files | grep -v '^etc/' >"$list"
	rm -f "$list.new"
	reload
	echo "installed: $("/usr/local/sbin/ctxprop" --version). A daemon that runs is upgraded by: systemctl restart ctxpropd"
}

remove_files() {
	[ -e "$list" ] || fail "nothing was installed by it"
	[ ! -d "$pins" ] || fail "ctxprop is attached: first ctxprop drain, then systemctl disable --now ctxpropd"
	while read -r path; do rm -f "/$path"; done <"$list"
	rm -f "$list"
	rmdir "$home" /usr/local/share/ctxprop/grafana /usr/local/share/ctxprop /usr/local/share/doc/ctxprop/licenses /usr/local/share/doc/ctxprop
	reload
}

[ "$(id -u)" = 0 ] || fail "it takes root"
case ${1:-} in
"") install_files ;;
--remove) remove_files ;;
*) fail "usage: ./install.sh [--remove]" ;;
esac
