#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=dash
# First program of a guest, in its initramfs: mounts the host's root, writable in memory only, and
# goes on with `stage2` of the share. Shares: host (/, read-only), modules, out.
die() {
	echo "guest: $1"
	/bin/busybox poweroff -f
}

/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev || die "no devtmpfs"
for module in /modules/*.ko; do
	insmod "$module" || die "cannot load $module"
done

SHARE="-t 9p -o trans=virtio,version=9p2000.L,msize=512000"
mount $SHARE,ro,cache=loose host /host || die "cannot mount the host's root over 9p"
mount -t tmpfs -o mode=755 tmp /tmp || die "no tmpfs"
mkdir /tmp/upper /tmp/work
mount -t overlay -o lowerdir=/host,upperdir=/tmp/upper,workdir=/tmp/work root /root ||
	die "cannot lay a tmpfs over the host's root"

mount --move /dev /root/dev
mount -t tmpfs -o mode=755 run /root/run || die "no /run"
mkdir -p /root/run/share /root/lib/modules
mount $SHARE,cache=none out /root/run/share || die "cannot mount the share for results"
mount $SHARE,ro,cache=loose modules /root/lib/modules || die "cannot mount the modules"
exec switch_root /root /bin/sh /run/share/stage2
