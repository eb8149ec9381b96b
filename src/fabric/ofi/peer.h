// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "fabric/connection/fin_handshake.h"
#include "fabric/connection/peer_life.h"
#include "fabric/connection/sequence.h"
#include "fabric/ofi/keep_alive.h"
#include "wire/ofi/ofi_packet.h"

namespace fulmar::fabric::ofi {

/// A packet that arrived out of order.
struct HeldPacket {
  wire::OfiPacket head;
  std::vector<std::byte> body;
};

/// The state of a peer with any traffic. Sequence numbers wrap around at 2^32.
struct Peer {
  std::uint64_t address = 0;    ///< the endpoint's number for it, once `found`
  std::string place;            ///< its address, for messages to the user
  std::vector<std::byte> name;  ///< its address, for libfabric
  KeepAlive keep_alive;
  std::uint64_t cookie_out = 0;
  std::uint64_t cookie_in = 0;
  /// Open: a packet came from it or was posted to it. There is no connection: with its FIN it is
  /// absent.
  PeerLife life;
  FinHandshake fin;
  SendSequence out;                ///< ordered packets to it
  ReceiveSequence in;              ///< ordered packets from it
  std::uint32_t in_place_out = 0;  ///< packets posted in place, to and from it
  std::uint32_t in_place_in = 0;
  std::uint32_t under_way = 0;        ///< sends that have not ended
  std::uint32_t orders = 0;           ///< reads and writes of its memory that have not ended
  std::uint32_t rdma_writes = 0;      ///< the writes among them
  std::uint32_t last_write_poll = 0;  ///< of Messages::looks_, when the last write ended
  bool found = false;
  bool has_other_networks =
      false;                  ///< over other networks: what goes in place is copied, see `drop`
  bool packet_waits = false;  ///< was refused for the sake of writes: see messages_remote.cc
  bool has_traffic = false;   ///< there was a packet to or from it since this process entered MPI
  bool has_received = false;  ///< something came since the last probe interval
  std::uint8_t quiet_probes = 0;  ///< silent probe intervals before; at most 255
  bool is_owed = false;           ///< listed in Messages::owed_
  bool owes_ack = false;   ///< a packet that only acknowledges, or asks whether the peer is there
  bool fin_heard = false;  ///< its FIN has come, maybe ahead of other packets
  std::map<std::uint32_t, HeldPacket> held;

  [[nodiscard]] bool owes_any_ack() const noexcept { return owes_ack || fin.ack_due(); }
};

}  // namespace fulmar::fabric::ofi
