// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/os/fd.h"
#include "fabric/provider.h"
#include "fabric/sink_ref.h"
#include "fabric/tcp/stream/buffers.h"
#include "fabric/tcp/stream/connection.h"
#include "fabric/tcp/stream/io.h"

/// The data path of the TCP provider: packets over connections of the Connector.
///
/// **Reading.** A poll reads the few *hot* connections directly: those that brought something lately, or from
/// which an answer is expected. All others are found by epoll, with every Nth poll, or with each poll if
/// nothing is hot. So a partner in a ping-pong costs one system call a poll, and a silent peer a pointer.
///
/// **Writing.** The first packet to a peer after a poll is written at once; those that follow before the next
/// poll or `flush`, and those in place, are written together. What the socket does not take is tried again
/// by every poll.
///
/// **Window.** At most a fixed amount of message packets (wire::tcp_window) is in flight to a peer. The peer
/// returns credits now and then; further packets wait at the sender: sockets hold thousands of short
/// messages, each of which takes ten times as much memory in the end.
///
/// **Lanes.** A peer has up to most_lanes connections. Ordered packets use lane 0; packets in place the lane
/// with the fewest waiting bytes.
///
/// **Ends.** A connection that ends without a `bye`, fails, or brings invalid bytes makes its peer lost: all its
/// lanes are closed, sends in place end as `lost`, and the `lost` callback is called once, from `poll`. A
/// process that leaves sends `bye` on each connection behind everything else and closes it when the peer has
/// answered `seen`: closing earlier could make its kernel discard, with a reset, what the peer has not read.
/// A process that has left may come back (a further session): from its `bye` on packets wait, until its
/// connections are closed and there is a new one. Messages to a process that has left and then ended wait
/// too, for a few seconds, in which their sender may cancel them (MPI 5.0 section 11.2.2); then the peer is
/// lost.
///
/// Two processes that stay end their connections when both need them no more (`disconnect`): each says `idle`, and
/// who has said and heard it says `part` behind everything else, which the other one answers by its own. One that
/// is idle keeps the connection as long as the other one is not, so that each misses the other if it dies.
/// Packets that are posted after `part` wait for the end, and then ask for a new connection.
///
/// A dead host sends nothing. Keep-alive detects that on an idle connection; with unacknowledged data the
/// kernel's state is checked twice a second (socket_options.h).
///
/// All members are called under the lock of the engine; those that are not const may be called by
/// the sink, `poll` excepted.
namespace fulmar::fabric::tcp {

class Streams {
 public:
  static constexpr std::size_t default_memory_bytes = 8U << 20;

  struct Config {
    std::uint32_t self = 0;                           ///< this process's id
    std::uint32_t size = 1;                           ///< ids are less; see `grow`
    std::size_t memory_bytes = default_memory_bytes;  ///< for bytes under way, see Buffers
    void* owner = nullptr;
    /// A connection to a peer is needed; called once. Posts answer `again` until `adopt` or `give_up`.
    void (*connect)(void* owner, std::uint32_t peer) = nullptr;
    /// All connections to a peer have ended in an orderly way; `connect` is called with the next post. Null:
    /// peers never come back, and a post to one that has left makes it lost.
    void (*left)(void* owner, std::uint32_t peer) = nullptr;
    /// How long posts to a peer that has left and ended are refused before the peer is lost.
    std::uint64_t patience_ns = VainPosts::default_patience_ns;
    /// A peer is lost; the text names it, its address and the cause.
    void (*lost)(void* owner, std::uint32_t peer, const base::Error& why) = nullptr;
    Io* io = nullptr;  ///< null: system calls
  };

  [[nodiscard]] static base::Result<std::unique_ptr<Streams>> open(const Config& config);
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams() = default;

  /// Uses `socket` (connected, non-blocking, nothing of the stream read or written) as this lane to
  /// the peer from now on; owns it even if it fails: the lane exists already or is out of range, or
  /// the peer is leaving or is lost.
  base::Error adopt(std::uint32_t peer, unsigned lane, int socket);
  /// Peers below `size` exist from now on.
  void grow(std::uint32_t size) {
    if (size > peers_.size()) peers_.resize(size);
  }
  /// This process needs the connections to the peer no more, unless it posts to it again. If the peer says the
  /// same they end in good order, `left` is called as if it had left, and nothing of it is kept.
  void disconnect(std::uint32_t peer);
  /// Nothing is left of a peer that has no connection. False: it has one, or one is being made.
  [[nodiscard]] bool forget(std::uint32_t peer);
  /// Closes all connections to the peer, and takes no further one: it is lost, without `lost` being
  /// called. Not from within `poll`.
  void drop(std::uint32_t peer);
  /// After `drop`: resets all state of this peer. No effect for one with a connection.
  void readmit(std::uint32_t peer);
  /// The timeout for a peer's host that does not acknowledge, from now on; see check_answers.
  void set_dead_after(std::uint32_t peer, std::uint32_t ms) { peer_at(peer).dead_after_ms = ms; }
  /// The peer has been silent for `ms` milliseconds already, on other networks. 0: it has not.
  void set_silent_for(std::uint32_t peer, std::uint32_t ms) {
    peer_at(peer).silent_since_ns =
        ms == 0 ? UINT64_MAX : base::now_ns() - ms * std::uint64_t{1'000'000};
  }
  /// The peer cannot be reached: it is lost, unless it has a connection by now.
  void give_up(std::uint32_t peer, const base::Error& why);
  /// Reports to `take_watched` when `descriptor` becomes readable. It is not owned.
  base::Error watch(int descriptor);
  [[nodiscard]] bool take_watched() noexcept { return std::exchange(watched_ready_, false); }

  [[nodiscard]] Post post(std::uint32_t peer, const wire::Envelope& envelope,
                          std::span<const std::byte> body);
  [[nodiscard]] Post post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                   std::span<const std::byte> prefix, std::span<const iovec> pieces,
                                   std::uint64_t token);
  /// Returns how many packets came and sends ended; at least 1 if any byte moved.
  unsigned poll(SinkRef sink);

  /// Whether connections end because both sides are idle; before a decision on new ones `poll` should have read all
  /// that has come, as a peer that has ended one may have begun the next.
  [[nodiscard]] bool is_parting() const noexcept { return parting_ != 0; }
  void read_all() noexcept { events_due_ = true; }

  [[nodiscard]] bool has_unsent() const noexcept { return !unsent_.empty(); }
  void flush();

  /// Readable while there is something to do, see Network::arm.
  [[nodiscard]] int descriptor() const noexcept { return epoll_.get(); }
  [[nodiscard]] bool arm();
  /// When to poll even so (CLOCK_MONOTONIC), for the keep-alive check. -1: never. Fixed by `arm`.
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept { return next_check_ns_; }

  /// False once the peer is known to have died. One that has left is alive.
  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept {
    return peers_[peer] == nullptr || !peers_[peer]->life.is_lost();
  }

  /// True once the peer has left, all that it had sent has been handed over, and it receives nothing more of
  /// what was sent to it; until it comes back, if ever.
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept {
    return peers_[peer] != nullptr && peers_[peer]->life.gone();
  }

  /// The peer has sent the FIN of its connection, and takes nothing more over it.
  [[nodiscard]] bool closing(std::uint32_t peer) const noexcept {
    return peers_[peer] != nullptr && peers_[peer]->life.is_closing();
  }

  /// Begins the orderly end: what is posted from now on is not sent. Poll until `quiesced`: then
  /// every peer has read everything that was posted to it before, or has left or is lost.
  void leave(Leaving how);
  [[nodiscard]] bool quiesced() const noexcept;
  /// After `quiesced`, before the last poll: ends the connections, so that peers which leave later do not
  /// wait for an answer.
  void end() noexcept;

  [[nodiscard]] std::uint32_t self() const noexcept { return config_.self; }
  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(peers_.size());
  }
  /// Peers with any traffic.
  [[nodiscard]] std::vector<std::uint32_t> known_peers() const;
  [[nodiscard]] std::size_t connections() const noexcept { return connections_; }
  /// Of Buffers; for tests and `fulmar info`.
  [[nodiscard]] const Buffers& buffers() const noexcept { return buffers_; }

 private:
  static constexpr std::size_t most_hot = 4;

  Streams(const Config& config, base::UniqueFd epoll);

  /// The peer if lane 0 is up; else null, and `otherwise` is the answer. A packet for a lost peer is dropped:
  /// `done`. So is a flow-control packet for a peer that has left.
  Peer* ready_peer(std::uint32_t peer, wire::PacketKind kind, Post& otherwise);
  Peer& peer_at(std::uint32_t peer);
  [[nodiscard]] LifeRules rules() const noexcept { return {config_.left != nullptr, leaving_}; }
  /// The answer for a packet that is not sent; may make the peer lost.
  Post post_to_absent(std::uint32_t peer, Admission admission);
  static Connection& least_loaded(Peer& peer) noexcept;
  Post send(Connection& connection, const wire::Envelope& envelope,
            std::span<const std::byte> body);
  Post collect(Connection& connection, const wire::Envelope& envelope,
               std::span<const std::byte> body);
  void want_flush(Connection& connection);
  /// Handles the result of a write.
  void settle(Connection& connection, const Writing& writing);
  void drop(std::uint32_t peer, std::uint64_t token);
  bool write(Connection& connection, Io::Next next);
  void note_next(Connection& connection, Io::Next next);
  void write_signals(Connection& connection);
  void send_fins();
  bool flush_unsent();
  bool retry_blocked();

  bool read_hot(SinkRef sink, unsigned& packets);
  bool read_ready(SinkRef sink, unsigned& packets);
  bool read(Connection& connection, SinkRef sink, unsigned& packets);
  void after_reading(Connection& connection, const Reading& reading);
  void count_taken(Connection& connection);
  void warm(Connection& connection);
  /// The events that epoll watches for a connection.
  enum class Interest : std::uint8_t { arrival, arrival_and_room };
  void watch_room(Connection& connection, Interest interest);
  /// Checks connections with unacknowledged data, at intervals.
  void check_answers_when_due();
  void check_all_answers(std::uint64_t now_ns, bool is_late);

  void lose(std::uint32_t peer, const base::Error& why);
  bool reap();
  void part(Peer& peer);
  void part(Connection& connection);
  void part_if_idle(Connection& connection);
  void end_if_parted(Connection& connection);
  void close(Connection& connection);
  void forget_if_gone(std::uint32_t peer);
  unsigned report_finished(SinkRef sink);

  Config config_;
  SystemIo system_io_;
  Io& io_;
  base::UniqueFd epoll_;
  Buffers buffers_;
  std::vector<std::unique_ptr<Peer>> peers_;
  /// The peers that exist: no loop goes over all processes.
  std::vector<std::uint32_t> known_;
  std::unique_ptr<std::byte[]> scratch_;
  std::vector<Connection*> unsent_;
  std::vector<Connection*> blocked_;
  std::array<Connection*, most_hot> hot_{};
  std::size_t hot_count_ = 0;
  std::vector<FinishedSend> finished_;
  std::vector<FinishedSend> abandoned_;  ///< reported when the connection is closed
  std::vector<FinishedSend> reporting_;
  std::vector<std::uint32_t> lost_;  ///< peers whose loss was not reported yet
  std::vector<Connection*> ended_;   ///< connections that end in an orderly way
  std::size_t next_blocked_ = 0;
  std::size_t connections_ = 0;
  std::size_t parting_ = 0;  ///< of these
  std::uint64_t polls_ = 1;
  std::int64_t next_check_ns_ = -1;  ///< -1: nothing to check
  bool any_unanswered_ = false;
  bool armed_ = false;  ///< since the last poll
  bool events_due_ = false;
  bool watched_ready_ = false;
  bool leaving_ = false;
  wire::TcpSignal fin_signal_ = wire::TcpSignal::bye;
  bool control_pending_ = false;  ///< there was no memory for a signal
};

}  // namespace fulmar::fabric::tcp
