# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=dash
# Process 1 of a guest after the root is mounted: what a node has mounted, then the jobs, then off.
# In the share: `job0`, `job1`, ... are what to run; `started`, `output` and `status` with the same
# number are what the host reads.
SHARE=/run/share
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8

mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t bpf bpf /sys/fs/bpf
mount -t tracefs tracefs /sys/kernel/tracing
mount -t debugfs debugfs /sys/kernel/debug
mkdir -p /dev/shm /dev/pts
mount -t tmpfs shm /dev/shm
mount -t devpts devpts /dev/pts
ln -sfn /proc/self/fd /dev/fd
# Made by udev elsewhere; the module loads when the node is opened.
mkdir -p /dev/net
mknod /dev/net/tun c 10 200
# As a service manager sets it; the kernel starts with 1024.
ulimit -n 65536
ip link set lo up

number=0
while [ -e $SHARE/job$number ]; do
	echo "-- next job" >/dev/console
	: >$SHARE/started$number
	setsid sh $SHARE/job$number </dev/null >$SHARE/output$number 2>&1
	echo $? >$SHARE/status$number
	number=$((number + 1))
done
busybox poweroff -f
