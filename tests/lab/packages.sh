# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # the lists are used by the script that reads this
# Which Debian packages are needed for what, and how they are installed. Sourced by ../../run.

debian_release() {
	# shellcheck source=/dev/null
	(. /etc/os-release && [ "${ID:-}" = debian ] && echo "${VERSION_ID:-13}") || echo 0
}

PACKAGES_BUILD=(cmake ninja-build gcc libc6-dev pkg-config clang llvm bpftool
	libbpf-dev libelf-dev libdw-dev libmnl-dev libjansson-dev libsqlite3-dev linux-libc-dev
	libmicrohttpd-dev libcurl4-openssl-dev libprotobuf-c-dev protobuf-c-compiler zlib1g-dev)
if [ "$(debian_release)" = 12 ]; then
	PACKAGES_BUILD+=(node-llhttp) # the C sources of llhttp come with it
else
	PACKAGES_BUILD+=(libllhttp-dev)
fi
# What ./run package has beside those.
PACKAGES_PACKAGE=(dpkg-dev file git python3 binutils)
# What ./run image and ./run tarball have beside both.
PACKAGES_SHIP=(ca-certificates patchelf)
PACKAGES_DEMO=(python3 iproute2 procps util-linux curl nginx-light)
PACKAGES_TEST=(g++ musl-tools golang-go libcmocka-dev libnghttp2-dev nghttp2-server nghttp2-client python3-grpcio libclang-rt-dev clang-format clang-tidy ccache git shellcheck
	iputils-ping groff-base
	haproxy wrk nodejs openssl ruby php-cli perl wget apache2-bin lighttpd nftables ethtool tcpdump iperf3
	qemu-system-x86 busybox-static cpio kmod zstd xz-utils
	python3-aiohttp python3-uvicorn python3-httptools python3-gevent python3-eventlet default-jdk-headless puma
	prometheus chromium
	python3-yaml) # of tests/kubernetes, which has more by npm
PACKAGES_TEST+=("${PACKAGES_PACKAGE[@]}" debootstrap lintian) # of tests/package
PACKAGES_TEST+=("${PACKAGES_SHIP[@]}" crun golang-github-containers-common python3-yaml) # of tests/image
if [ "$(debian_release)" = 12 ]; then
	PACKAGES_TEST+=(clang-19) # what Debian 13 compiles the BPF programs with
else
	PACKAGES_TEST+=(kubectl) # that of Debian 12 is too old for the manifests in k8s/
fi
command -v npm >/dev/null || PACKAGES_TEST+=(npm) # it may have come with nodejs
# The runtimes of tests/accuracy.
PACKAGES_ACCURACY=(curl socat systemd nginx-light haproxy nodejs python3-aiohttp gunicorn golang-go golang-golang-x-net-dev golang-google-grpc-dev
	python3-starlette python3-uvicorn python3-uvloop python3-httpx python3-gevent python3-tornado
	python3-waitress redis-server node-redis
	mono-mcs mono-runtime libmono-system-net-http4.0-cil
	rustc cargo librust-hyper-dev librust-tokio-dev erlang-base erlang-inets
	default-jdk-headless libtomcat10-java libjetty9-java puma ruby-webrick php-cli php-curl php-fpm
	uwsgi-core uwsgi-plugin-python3)

# What tests/samples has beside those.
PACKAGES_SAMPLES=(python3-fastapi python3-quart ruby-sinatra ruby-async-http golang-golang-x-sync-dev)

# install_missing PACKAGE...: install those that are not there; no service is started by it.
install_missing() {
	local package missing=()
	for package in "$@"; do
		dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' ||
			missing+=("$package")
	done
	[ ${#missing[@]} = 0 ] && return
	if [ "$(debian_release)" = 0 ] || [ "$(id -u)" != 0 ]; then
		echo "missing packages (names as on Debian): ${missing[*]}" >&2
		echo "on Debian, root may let ./run install them; elsewhere install them by hand" >&2
		exit 1
	fi
	echo "installing: ${missing[*]}"
	apt_install "${missing[@]}"
}

# A policy-rc.d that says no keeps packages from starting their services; ours goes again.
apt_install() (
	policy=/usr/sbin/policy-rc.d
	if [ ! -e $policy ]; then
		trap 'rm -f $policy' EXIT
		printf '#!/bin/sh\nexit 101\n' >$policy
		chmod +x $policy
	fi
	export DEBIAN_FRONTEND=noninteractive
	apt-get -qq update </dev/null
	apt-get -qq -y -o Dpkg::Use-Pty=0 install --no-install-recommends "$@" </dev/null >/dev/null
	disable_services "$@"
)

# What was installed for tests does not run at the next boot either.
disable_services() {
	local package
	command -v systemctl >/dev/null || return 0
	for package in "$@"; do
		case $package in
		nginx-light) systemctl --quiet disable nginx 2>/dev/null || true ;;
		php-fpm) systemctl --quiet disable 'php*-fpm' 2>/dev/null || true ;;
		erlang-base) systemctl --quiet disable epmd.service epmd.socket 2>/dev/null || true ;;
		haproxy | nftables | lighttpd | redis-server | prometheus) systemctl --quiet disable "$package" 2>/dev/null || true ;;
		esac
	done
}
