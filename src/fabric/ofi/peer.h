// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "fabric/ofi/keep_alive.h"
#include "wire/ofi/ofi_packet.h"

namespace fulmar::fabric::ofi {

/// A packet that came ahead of its turn.
struct HeldPacket {
  wire::OfiPacket head;
  std::vector<std::byte> body;
};

/// What is kept about a rank that was sent to or has sent. Numbers of packets go round after 2^32.
struct Peer {
  std::uint64_t address = 0;    ///< the endpoint's number for it, once `found`
  std::string place;            ///< its address, for people
  std::vector<std::byte> name;  ///< its address, for libfabric
  KeepAlive keep_alive;
  std::uint64_t cookie_out = 0;
  std::uint64_t cookie_in = 0;
  std::uint32_t next_out = 0;      ///< number of the next packet to it that keeps order
  std::uint32_t acked = 0;         ///< so many of those it has said to have
  std::uint32_t next_in = 0;       ///< number of the next packet from it
  std::uint32_t told_in = 0;       ///< so many it knows that we have
  std::uint32_t in_place_out = 0;  ///< packets posted in place, to and from it
  std::uint32_t in_place_in = 0;
  std::uint32_t under_way = 0;      ///< sends that have not ended
  std::uint32_t orders = 0;         ///< reads and writes of its memory that have not ended
  std::uint32_t puts = 0;           ///< the writes among them
  std::uint32_t last_put_look = 0;  ///< of Messages::looks_, when the last write ended
  std::uint32_t bye_number = 0;
  bool found = false;
  bool has_other_ways = false;  ///< over other networks: what goes in place is copied, see `drop`
  bool packet_waits = false;    ///< was refused for the sake of writes: see messages_remote.cc
  bool lost = false;
  bool talked = false;     ///< there was a packet to or from it since this process entered MPI
  bool heard = false;      ///< something came since the last look of the vigil
  std::uint8_t quiet = 0;  ///< so many of those before found nothing; at most 255
  bool is_owed = false;    ///< listed in Messages::owed_
  bool owes_bye = false;   ///< we have to say it
  bool owes_seen = false;
  bool bye_sent = false;
  bool bye_heard = false;  ///< its bye has come, maybe ahead of other packets
  /// Its bye has come, and with it everything before, and nothing has come or was posted since.
  bool has_left = false;
  bool gone = false;  ///< it has said that it never comes back
  base::Error why;    ///< of the loss
  std::map<std::uint32_t, HeldPacket> held;

  [[nodiscard]] bool bye_acked() const noexcept {
    return bye_sent && static_cast<std::int32_t>(acked - bye_number) > 0;
  }
};

}  // namespace fulmar::fabric::ofi
