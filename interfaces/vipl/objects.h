// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "sisci/sisci_api.h"
#include "vipl/api.h"
#include "wire/interfaces/vipl.h"

/// What the handles of VIPL stand for, and what they consist of. All of it is guarded by the provider's lock.
namespace fulmar::vipl {

struct Nic {
  std::uint32_t handle = 0;
  std::string name;
  VIP_ERROR_HANDLER error_handler = nullptr;
  void* error_context = nullptr;
  bool has_names = false;  ///< VipNSInit
};

struct Ptag {
  std::uint32_t handle = 0;
  std::uint32_t nic = 0;
  std::uint32_t uses = 0;  ///< VIs and memory that have it
};

/// A local segment of SISCI, mapped, that other processes may connect to.
struct LocalPart {
  sci_local_segment_t segment = nullptr;
  sci_map_t map = nullptr;
  std::byte* base = nullptr;
  std::uint32_t number = 0;
};

/// Memory that is registered. Other processes reach it by one of two segments: `shared`, which those of the host can
/// address (the memory itself if VipAllocMem has made it, else a shadow of it), and `direct`, the program's memory as
/// it is, to which data go by explicit transfers.
struct Region {
  std::uint32_t handle = 0;
  std::uint32_t nic = 0;
  std::uint32_t ptag = 0;
  std::byte* base = nullptr;
  std::size_t bytes = 0;
  bool allows_write = false;
  bool allows_read = false;
  bool is_allocated = false;
  LocalPart shared;
  LocalPart direct;
  std::uint32_t uses = 0;  ///< pieces of posted descriptors
};

/// A piece of a local descriptor.
struct Piece {
  Region* region;
  std::uint64_t offset;
  std::uint64_t bytes;
};

/// A segment of another process, or of this one, to which this one is connected or connecting. By (node, number), of
/// which a process uses none twice.
struct RemoteSegment {
  enum class State : std::uint8_t { connecting, ready, failed, ended };
  struct Provider* provider = nullptr;
  std::uint32_t node = 0;
  std::uint32_t number = 0;
  State state = State::connecting;
  bool was_withdrawn = false;  ///< failed: its owner has no such segment any more
  sci_remote_segment_t segment = nullptr;
  sci_map_t map = nullptr;
  sci_sequence_t sequence = nullptr;
  std::byte* base = nullptr;  ///< null: explicit transfers
  std::size_t bytes = 0;
};

/// Memory of the other end that an RDMA operation named, as its owner describes it.
struct RemoteRegion {
  enum class State : std::uint8_t { asked, allowed, refused };
  State state = State::asked;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::uint32_t shared = 0;
  std::uint32_t direct = 0;
  bool is_allocated = false;
};

/// A descriptor of a send queue.
struct SendWork {
  /// waiting: for its turn, a receive descriptor, or an answer. moving: `pending` things have to end. ended: with
  /// `status`, but what is ahead of it has not. done: the program may take it back.
  enum class State : std::uint8_t { waiting, moving, ended, done };
  struct Vi* vi = nullptr;
  VIP_DESCRIPTOR* descriptor = nullptr;
  State state = State::waiting;
  std::uint32_t operation = VIP_CONTROL_OP_SENDRECV;
  bool has_fence = false;
  bool has_immediate = false;
  std::uint32_t immediate = 0;
  std::vector<Piece> pieces;
  std::uint64_t bytes = 0;
  std::uint64_t remote_address = 0;  ///< of RDMA, and
  std::uint32_t remote_handle = 0;
  std::uint32_t pending = 0;
  std::uint32_t status = 0;         ///< error bits
  std::uint32_t remote_status = 0;  ///< error bits for the receive descriptor
  std::uint64_t number = 0;         ///< of the receive descriptor that it consumes; 0: none
  bool is_in_shadow = false;        ///< the data are in shadows of the other end
  std::uint64_t question = 0;       ///< the message that it waits for an answer of; 0: none
  /// Of RDMA with shadows: what is to be done before or after the data move.
  enum class Step : std::uint8_t { none, bring_out, take_in, copy_home };
  Step before = Step::none;
  Step after = Step::none;
  std::uint32_t target = 0;         ///< number of the segment of an RDMA operation that is moving
  std::uint64_t target_offset = 0;  ///< in it
  bool was_asked_again = false;     ///< of an RDMA operation: what was known was out of date
};

/// A descriptor of a receive queue.
struct ReceiveWork {
  VIP_DESCRIPTOR* descriptor = nullptr;
  std::vector<Piece> pieces;
  std::uint64_t bytes = 0;
  std::uint32_t errors = 0;  ///< status bits, of one that cannot be used
};

/// What waits for a completion: called once.
template <class Callback>
struct Notification {
  Callback handler;
  void* context;
};

/// An address of the program.
struct Address {
  std::uint32_t node = 0;
  std::vector<std::byte> discriminator;
  bool operator==(const Address&) const = default;
};

/// An attempt to connect, from the call to its end.
struct Attempt {
  enum class Kind : std::uint8_t { none, client, server, peer };
  Kind kind = Kind::none;
  bool is_over = false;
  VIP_RETURN result = VIP_NOT_DONE;
  bool was_matched = false;
  bool other_is_ready = false;
  Address local;
  Address remote;
  std::chrono::steady_clock::time_point end;
  bool has_end = false;
};

struct Cq {
  std::uint32_t handle = 0;
  std::uint32_t nic = 0;
  std::size_t entries = 0;
  std::uint32_t uses = 0;  ///< queues of VIs
  struct Entry {
    std::uint32_t vi;
    bool is_receive;
  };
  std::deque<Entry> done;
  std::deque<Notification<VIP_CQ_CALLBACK>> notifications;
};

struct Vi {
  std::uint32_t handle = 0;
  std::uint32_t nic = 0;
  VIP_VI_STATE state = VIP_STATE_IDLE;
  VIP_VI_ATTRIBUTES attributes{};
  std::uint32_t ptag = 0;
  Cq* send_cq = nullptr;
  Cq* receive_cq = nullptr;

  // The connection.
  std::uint64_t token = 0;  ///< of this end; another one for each attempt
  std::uint64_t other = 0;  ///< the other end's
  std::uint32_t node = 0;   ///< the other end's
  struct Peer* peer = nullptr;
  Attempt attempt;
  VIP_VI_ATTRIBUTES remote_attributes{};
  LocalPart area_part;
  wire::ViplArea* area = nullptr;
  RemoteSegment* link = nullptr;  ///< the other end's area

  // Work. Those of the send queue end in order.
  std::deque<std::unique_ptr<SendWork>> sends;
  std::vector<std::unique_ptr<SendWork>> spare_sends;
  std::deque<ReceiveWork> receives;
  std::size_t sends_started = 0;   ///< in front of `sends`: not waiting
  std::size_t sends_done = 0;      ///< in front of `sends`: to be taken back
  std::size_t receives_done = 0;   ///< in front of `receives`
  std::size_t receives_given = 0;  ///< behind those: given to the other end
  std::uint64_t received = 0;      ///< number of the last receive descriptor that ended
  std::uint64_t given = 0;         ///< number of the last one that was given
  std::uint64_t sent = 0;          ///< number of the other end's that was last used
  bool awaits_receive = false;     ///< the other end has been asked for descriptor sent + 1
  bool found_empty = false;        ///< and has none
  bool was_asked = false;          ///< by the other end, for one that was not there
  wire::ViplPush push;             ///< the one in use
  std::uint64_t revoke_asked = 0;  ///< number of the last `revoke` to the other end, and
  std::uint64_t revoke_answered = 0;
  std::unordered_map<std::uint64_t, RemoteRegion> remote_regions;  ///< see key_of in rdma.h

  std::deque<Notification<VIP_VI_CALLBACK>> send_notifications;
  std::deque<Notification<VIP_VI_CALLBACK>> receive_notifications;
};

/// A request that has come and that nobody has taken, or (`handle`) that a VipConnectWait has.
struct Arrived {
  std::uint32_t handle = 0;
  std::uint32_t nic = 0;
  wire::ViplMessage message{};
  VIP_RETURN end = VIP_SUCCESS;  ///< why it is none any more
};

/// Another process, or this one, as far as this one has to do with it.
struct Peer {
  /// unknown: to be connected as soon as there is something to send. asked: its bell's segment. alive: the rest is the
  /// manager's to connect. lost: what there is of the connection is to be removed.
  enum class State : std::uint8_t { unknown, asked, alive, ready, lost };
  struct Provider* provider = nullptr;
  std::uint32_t node = 0;
  State state = State::unknown;
  bool has_ended = false;  ///< the process, not only its NICs
  std::chrono::steady_clock::time_point retry;
  sci_remote_segment_t bell_segment = nullptr;
  sci_map_t bell_map = nullptr;
  wire::ViplBell* bell = nullptr;  ///< null: across hosts
  sci_remote_interrupt_t bell_interrupt = nullptr;
  sci_remote_data_interrupt_t control = nullptr;
  std::deque<wire::ViplMessage> outbox;
  std::string name;  ///< its host's; empty: not known
  bool was_asked_name = false;
};

}  // namespace fulmar::vipl
