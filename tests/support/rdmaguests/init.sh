#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# Process 1 of a guest, under busybox: modules, file systems, network, device; then the command, in the file
# system of the host below an overlay. guest.py writes /control/config.
export PATH=/bin

say() { echo "rdmavm[$(cut -d' ' -f1 /proc/uptime)s]: $*"; }
halt() {
  say "$1"
  sync
  poweroff -f
  sleep 60
}

until_true() { # TENTHS CHECK...: whether the check has held within that time
  local left=$1
  shift
  until "$@"; do
    left=$((left - 1))
    [ $left -gt 0 ] || return 1
    usleep 100000
  done
}

load_modules() {
  local module arguments
  while read -r module; do
    arguments=
    [ "$module" != dummy.ko ] || arguments=numdummies=0
    insmod "/mod/$module" $arguments || say "insmod $module failed"
  done </mod/order
}

share() { # TAG FOLDER OPTIONS
  mkdir -p "$2"
  mount -t 9p -o "trans=virtio,version=9p2000.L,msize=512000,access=any$3" "$1" "$2" || halt "cannot share $2"
}

make_root() { # at /new
  share root /lower ,ro,cache=loose
  mkdir -p /over /new
  mount -t tmpfs -o mode=755,size=80% tmpfs /over
  mkdir /over/up /over/work
  mount -t overlay -o lowerdir=/lower,upperdir=/over/up,workdir=/over/work overlay /new || halt "no overlay"
  mount -t proc proc /new/proc
  mount -t sysfs sysfs /new/sys
  mount -t devtmpfs dev /new/dev
  mkdir -p /new/dev/pts /new/dev/shm /new/dev/mqueue /new/run/rdmavm/control /new/run/rdmavm/shared
  mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /new/dev/pts
  mount -t tmpfs -o mode=1777 tmpfs /new/dev/shm
  mount -t mqueue mqueue /new/dev/mqueue
  ln -sf /proc/self/fd /new/dev/fd
  ln -sf /proc/self/fd/0 /new/dev/stdin
  ln -sf /proc/self/fd/1 /new/dev/stdout
  ln -sf /proc/self/fd/2 /new/dev/stderr
  mount -o bind /control /new/run/rdmavm/control
  mount -o bind /shared /new/run/rdmavm/shared
}

share_writable() {
  local i=0 folder
  while [ $i -lt "$rw_count" ]; do
    eval "folder=\$rw_$i"
    share rw$i "/new$folder" ,cache=mmap
    i=$((i + 1))
  done
}

make_network() { # sets devices
  local rail=0
  devices=
  hostname "node$id"
  ip link set lo up
  while [ $rail -lt "$rails" ]; do
    # One guest alone needs no wire: the driver turns its own packets round above it.
    [ "$nodes" -gt 1 ] || ip link add eth$rail type dummy
    ip link set eth$rail mtu "$mtu" || say "eth$rail: mtu $mtu refused"
    ip addr add "10.77.$rail.$((id + 1))/24" dev eth$rail
    ip link set eth$rail up
    if [ "$device" = 1 ]; then
      PATH=/usr/sbin:/usr/bin:/sbin:/bin /bin/chroot /new rdma link add rxe$rail type rxe netdev eth$rail ||
        halt "cannot make rxe$rail on eth$rail"
      devices=$devices${devices:+,}rxe$rail
    fi
    rail=$((rail + 1))
  done
}

name_guests() { # sets addresses, hosts
  local i=0
  addresses=
  hosts=
  while [ $i -lt "$nodes" ]; do
    addresses=$addresses${addresses:+,}10.77.0.$((i + 1))
    hosts=$hosts${hosts:+,}node$i
    echo "10.77.0.$((i + 1)) node$i" >>/new/etc/hosts
    i=$((i + 1))
  done
}

# Ports are active and carry the identifiers of their IPv4 addresses.
devices_ready() {
  local rail=0 port
  while [ "$device" = 1 ] && [ $rail -lt "$rails" ]; do
    port=/sys/class/infiniband/rxe$rail/ports/1
    grep -q ACTIVE $port/state || return 1
    cat $port/gids/[0-7] 2>/dev/null | grep -q "$(printf 'ffff:0a4d:%02x%02x' $rail $((id + 1)))" || return 1
    rail=$((rail + 1))
  done
}

all_ready() {
  local i=0
  while [ $i -lt "$nodes" ]; do
    [ -e "/shared/.ready.$i" ] || return 1
    i=$((i + 1))
  done
}

port_named() { # the device of the virtual serial port of that name
  local port
  for port in /sys/class/virtio-ports/*; do
    ! grep -qx "$1" "$port/name" || echo "/dev/${port##*/}"
  done
}

copied() { ! kill -0 "$1" 2>/dev/null && ! kill -0 "$2" 2>/dev/null; }

run_command() { # sets status
  local out err
  mkfifo /out /err
  cat /out >"$(port_named out)" &
  out=$!
  cat /err >"$(port_named err)" &
  err=$!
  NODE_ID=$id NODE_COUNT=$nodes NODE_ADDRS=$addresses NODE_HOSTS=$hosts NODE_ADDR=10.77.0.$((id + 1)) \
    NODE_SHARED=/run/rdmavm/shared RDMA_DEVICES=$devices \
    chroot /new /bin/bash /run/rdmavm/control/run </dev/null >/out 2>/err
  status=$?
  # What it left running may still hold the pipes: that is not waited for long.
  until_true 20 copied $out $err
}

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
load_modules
share control /control
share shared /shared
. /control/config
make_root
share_writable
say "file systems up"
make_network
name_guests
until_true 100 devices_ready || halt "the device is not ready"
: >"/shared/.ready.$id"
until_true 6000 all_ready || halt "not all guests came up"
say "start"
run_command
sync
i=0
while [ $i -lt "$rw_count" ]; do
  eval "umount \"/new\$rw_$i\""
  i=$((i + 1))
done
echo $status >/control/status
halt "exit status $status"
