// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "interfaces/core.h"
#include "rwapi/arena.h"
#include "rwapi/rwapi.h"
#include "rwapi/small_queue.h"
#include "wire/interfaces/rwapi.h"

namespace fulmar::rwapi {

/// RWAPI in one process: blocks, small messages and writes.
///
/// A write to a node of this host is a copy by the sender, who checks the address against the arena
/// of the receiver, which is mapped. One to another host is a frame with the address and a payload;
/// the receiver checks the address, says where the payload goes, and tells when it has arrived, in
/// one frame for all writes that have arrived since it last looked. Small messages go the same two
/// ways: through a queue in the receiver's arena, or as frames.
///
/// Thread rule: members hold the port's lock themselves, or are called with it (Client). Small
/// messages through memory need no lock: their ends belong to the program's thread.
class Node final : public interfaces::Client {
 public:
  /// Joins the job. Null, after a line on stderr, where that fails; `error` is RWAPI_ERR_RUNTIME or
  /// RWAPI_ERR_MEMORY then.
  [[nodiscard]] static std::unique_ptr<Node> open(int& error);
  /// Not attached: of no use yet.
  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  /// Detached, or never attached.
  ~Node() = default;
  /// Makes an arena of at most so many bytes and starts the port, whose client this is, without
  /// waiting for other nodes; part of `open`. False, after a line on stderr, without memory.
  [[nodiscard]] bool attach(interfaces::Port& port, std::size_t most_bytes);
  /// Gives all memory back to the port; frames that still come are dropped. Part of `close`.
  void detach();
  /// Collective. The node is of no use afterwards.
  void close();

  [[nodiscard]] int size() const noexcept { return static_cast<int>(port_->size()); }
  [[nodiscard]] int rank() const noexcept { return static_cast<int>(port_->rank()); }
  [[nodiscard]] void* allocate(std::size_t bytes, rwapi_net& net);
  [[nodiscard]] int free(const void* block);
  [[nodiscard]] int send(rwapi_node to, const rwapi_small& message);
  [[nodiscard]] int receive(rwapi_node& from, rwapi_small& message);
  [[nodiscard]] rwapi_sid write(rwapi_node to, const rwapi_net& local, const rwapi_net& remote,
                                std::size_t bytes);
  [[nodiscard]] int is_sent(rwapi_sid sid);

  // What the port calls.
  [[nodiscard]] std::byte* begin(const interfaces::Frame& frame) noexcept override;
  void deliver(const interfaces::Frame& frame, Payload payload) noexcept override;
  void segment_mapped(std::uint32_t peer, std::uint64_t id,
                      interfaces::Segment* segment) noexcept override;
  void peer_lost(std::uint32_t peer) noexcept override;
  unsigned step() noexcept override;

 private:
  /// A write that has not ended, or has ended with an error.
  struct Write : interfaces::SendCompletion {
    Node* node = nullptr;
    rwapi_sid sid = 0;
    std::uint64_t number = 0;  ///< see wire::RwapiWrite
    std::uint32_t block = 0;   ///< the own one, in use until it is sent
    int error = RWAPI_OK;
    bool is_sent = false;  ///< the memory is not used any more
    bool has_ended = false;
  };
  struct Peer {
    interfaces::Segment* segment = nullptr;
    std::optional<RemoteArena> arena;  ///< of a process of this host
    SmallSender small;                 ///< the same; the mapping stays until `detach`
    std::atomic<bool> is_lost = false;
    bool is_settled = false;       ///< the arena is mapped, or never will be
    std::uint32_t unreceived = 0;  ///< small messages to it that its program has not taken
    std::uint32_t queued = 0;      ///< of its small messages in `small_messages_`
    std::uint32_t received = 0;    ///< since it was told
    bool has_asked = false;        ///< it wants to be told
    bool is_asked = false;         ///< this node has asked it, and it has not answered
    std::uint64_t writes = 0;      ///< to it by frames
    std::deque<Write*> under_way;  ///< of these
    std::uint64_t ended = 0;       ///< the last write from it that has ended
    bool owes_ended = false;
  };
  struct SmallMessage {
    std::uint32_t from;
    rwapi_small content;
  };
  /// Of a process of this host.
  struct SmallSource {
    std::uint32_t from;
    SmallReceiver receiver;
  };

  [[nodiscard]] int send_frame(std::uint32_t node, const rwapi_small& message);
  [[nodiscard]] bool receive_from_memory(rwapi_node& from, rwapi_small& message) noexcept;
  [[nodiscard]] bool receive_from_frames(rwapi_node& from, rwapi_small& message);
  void keep_small(const SmallMessage& message);
  void look_at_port() noexcept;

  [[nodiscard]] bool make_arena(std::size_t most_bytes);
  void share_arena();
  [[nodiscard]] rwapi_sid write_frame(Peer& peer, std::uint32_t to, const wire::RwapiWrite& remote,
                                      std::uint32_t local_block, std::span<const std::byte> bytes);
  void on_small(const interfaces::Frame& frame) noexcept;
  void on_received(const interfaces::Frame& frame) noexcept;
  void on_write(const interfaces::Frame& frame, Payload payload) noexcept;
  void on_refused(const interfaces::Frame& frame) noexcept;
  void on_ask(const interfaces::Frame& frame) noexcept;
  void on_ended(const interfaces::Frame& frame) noexcept;
  static void write_sent(interfaces::SendCompletion& completion,
                         interfaces::Outcome outcome) noexcept;
  void end(Write& write) noexcept;
  void forget_if_over(Write& write) noexcept;
  void tell_received(Peer& peer, std::uint32_t node) noexcept;
  void forget_arena(Peer& peer) noexcept;
  [[nodiscard]] bool knows(rwapi_node node) const noexcept { return node >= 0 && node < size(); }

  interfaces::Port* port_ = nullptr;
  interfaces::Segment* segment_ = nullptr;
  std::unique_ptr<Arena> arena_;
  std::vector<Peer> peers_;
  std::uint32_t place_on_host_ = 0;  ///< of this process among those of its host
  std::vector<SmallSource> sources_;
  std::size_t next_source_ = 0;              ///< where to look first
  bool all_in_memory_ = false;               ///< all processes are of this host
  bool frames_had_their_turn_ = false;       ///< the last message that was received came by a frame
  unsigned calls_without_progress_ = 0;      ///< see look_at_port
  std::deque<SmallMessage> small_messages_;  ///< by frames, and to this process itself
  std::atomic<bool> has_small_messages_ = false;
  rwapi_sid next_sid_ = 0;
  std::unordered_map<rwapi_sid, std::unique_ptr<Write>> writes_;
  std::vector<std::uint32_t> owing_;  ///< nodes that are to hear of ended writes
};

}  // namespace fulmar::rwapi
