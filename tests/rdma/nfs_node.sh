#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# usage: nfs_node.sh FOLDER COMMAND...
# Runs in each of several guests (tests/support/rdmavm --nfs) and then the command: the first one exports a file system
# in memory by NFS 4.2, and all, itself too, mount it at the folder. At FOLDER.mixed the first one has the file system
# itself, and the others what they mount. The kernel's server is told of the export and the
# clients as rpc.mountd would (net/sunrpc/cache.c), so that nothing has to be installed.
set -u
folder=$1
shift
server=${NODE_ADDRS%%,*}
forever=2147483647
# Of include/uapi/linux/nfsd/export.h: any port, no subtree check, a file system with a number of its own. Nobody is
# mapped to another user, and what is written is on the disk before the answer.
flags=$((0x2 | 0x400 | 0x2000))

tell() { printf '%s\n' "$2" >"/proc/net/rpc/$1/channel" || exit 1; }

if [ "$NODE_ID" = 0 ]; then
  mkdir -p /srv/exported
  mount -t tmpfs -o mode=1777,size=60% exported /srv/exported || exit 1
  mount -t nfsd nfsd /proc/fs/nfsd || exit 1
  echo "-2 -3 +4 +4.1 +4.2" >/proc/fs/nfsd/versions
  echo 10 >/proc/fs/nfsd/nfsv4gracetime
  # Guests may stand still for long where the machine has other work; leases would end meanwhile, and all locks with them.
  echo 3600 >/proc/fs/nfsd/nfsv4leasetime
  for address in ${NODE_ADDRS//,/ }; do
    tell auth.unix.ip "nfsd $address $forever guests"
  done
  tell nfsd.fh "guests 1 \\x00000000 $forever /srv/exported"
  tell nfsd.export "guests /srv/exported $forever $flags 65534 65534 0"
  echo 8 >/proc/fs/nfsd/threads || exit 1
  echo Y >/proc/fs/nfsd/v4_end_grace 2>/dev/null
  : >"$NODE_SHARED/nfs.serves"
fi
for _ in $(seq 600); do
  [ ! -e "$NODE_SHARED/nfs.serves" ] || break
  sleep 0.2
done
mkdir -p "$folder"
mount -i -t nfs4 -o "vers=4.2,addr=$server,clientaddr=$NODE_ADDR,timeo=100" "$server:/" "$folder" || exit 1
if [ "$NODE_ID" = 0 ]; then
  ln -s /srv/exported "$folder.mixed"
else
  ln -s "$folder" "$folder.mixed"
fi
exec "$@"
