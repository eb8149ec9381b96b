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

/// The data path of the TCP provider: packets over connections that somebody else has made.
///
/// **Reading.** A poll reads the few *hot* connections straight away: those that brought something
/// lately, or from which an answer is expected. All others are found by epoll, with some polls: at
/// once when nothing is hot. So a partner in a ping-pong costs one system call a look, and a silent
/// peer a pointer.
///
/// **Writing.** The first packet to a peer after a poll is written at once; those that follow
/// before the next poll or `flush`, and those in place, leave together. What is not taken
/// is tried again with every poll.
///
/// **Window.** Of packets that bring messages no more are on their way to a peer than a fixed
/// amount (wire::tcp_window). A peer that takes them says so now and then, and others wait at their
/// sender: sockets hold thousands of short messages, each of which takes ten times as much in the
/// end.
///
/// **Lanes.** A peer has up to most_lanes connections. Packets that keep order use lane 0; packets
/// in place the lane with the least waiting.
///
/// **Ends.** A connection that ends without a `bye`, fails, or brings nonsense makes its peer lost:
/// all its lanes are closed, sends in place end as `lost`, and the `lost` callback is called once,
/// from `poll`. A process that leaves sends `bye` on each connection behind everything else and
/// closes it when the peer has answered `seen`: closing earlier could make its system throw away,
/// with a reset, what the peer has not read. Who has left may come back (a further session): from
/// its `bye` on packets wait, until its connections are closed and there is a new one. Messages to
/// a process that has left and then ended wait too, for a few seconds, in which their sender may
/// take them back (MPI 5.0 section 11.2.2); then the peer is lost.
///
/// A dead host says nothing at all. Keep-alive finds that on an idle connection; where something
/// was written the kernel is asked twice a second for what it knows (socket_options.h).
///
/// All members are called under the lock of the engine; those that are not const may be called by
/// the sink, `poll` excepted.
namespace fulmar::fabric::tcp {

class Streams {
 public:
  static constexpr std::size_t default_memory_bytes = 8U << 20;

  struct Config {
    std::uint32_t self = 0;                           ///< the own id
    std::uint32_t size = 1;                           ///< ids are less; see `grow`
    std::size_t memory_bytes = default_memory_bytes;  ///< for bytes under way, see Buffers
    void* owner = nullptr;
    /// Somebody posts to a peer that has no connection; asked once. Posts answer `again` until
    /// `adopt` or `give_up`.
    void (*wanted)(void* owner, std::uint32_t peer) = nullptr;
    /// All connections to a peer have ended in good order; it is `wanted` with the next post. Null:
    /// who has left never comes back, and a post to it makes it lost.
    void (*left)(void* owner, std::uint32_t peer) = nullptr;
    /// How long messages are posted in vain to a peer that has left and ended until it is lost.
    std::uint64_t patience_ns = VainPosts::default_patience_ns;
    /// A peer is lost; the text names it, its address and the cause.
    void (*lost)(void* owner, std::uint32_t peer, const base::Error& why) = nullptr;
    Io* io = nullptr;  ///< null: the system's calls
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
  /// Closes all connections to the peer, and takes no further one: it is lost, without `lost` being
  /// called. Not from within `poll`.
  void drop(std::uint32_t peer);
  /// After `drop`: as if there never was anything with this peer. Nothing for one that has a
  /// connection.
  void readmit(std::uint32_t peer);
  /// How long the peer's host may be silent when it has something to answer, from now on; see
  /// check_answers.
  void set_dead_after(std::uint32_t peer, std::uint32_t ms) { peer_at(peer).dead_after_ms = ms; }
  /// Its silence does not begin with what it has to answer here, but was that long before now.
  /// 0: it does.
  void set_silent_for(std::uint32_t peer, std::uint32_t ms) {
    peer_at(peer).silent_since_ns =
        ms == 0 ? UINT64_MAX : base::now_ns() - ms * std::uint64_t{1'000'000};
  }
  /// There is no way to the peer: it is lost, unless it has a connection by now.
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

  [[nodiscard]] bool has_unsent() const noexcept { return !unsent_.empty(); }
  void flush();

  /// Readable while there is something to do, see Network::arm.
  [[nodiscard]] int descriptor() const noexcept { return epoll_.get(); }
  [[nodiscard]] bool arm();
  /// When to poll even so (CLOCK_MONOTONIC): then somebody has to be asked whether it lives. -1:
  /// never. Fixed by `arm`.
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept { return next_check_ns_; }

  /// False once the peer is known to be dead. One that has left in good order is not.
  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept {
    return peers_[peer] == nullptr || !peers_[peer]->life.is_lost();
  }

  /// True once the peer has left, all that it had sent has been handed over, and it receives
  /// nothing any more of what was sent to it; until it is back, if it ever is.
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept {
    return peers_[peer] != nullptr && peers_[peer]->life.gone();
  }

  /// The peer has said its last word on its connection, and takes nothing more over it.
  [[nodiscard]] bool closing(std::uint32_t peer) const noexcept {
    return peers_[peer] != nullptr && peers_[peer]->life.is_closing();
  }

  /// Begins the orderly end: what is posted from now on is not sent. Poll until `parted`: then
  /// every peer has read everything that was posted to it before, or has left or is lost.
  void leave(Leaving how);
  [[nodiscard]] bool quiesced() const noexcept;
  /// After `parted`, when nobody will poll any more: ends the connections, so that peers which
  /// leave later do not wait for an answer.
  void end() noexcept;

  [[nodiscard]] std::uint32_t self() const noexcept { return config_.self; }
  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(peers_.size());
  }
  /// Who was ever talked to.
  [[nodiscard]] std::vector<std::uint32_t> known_peers() const;
  [[nodiscard]] std::size_t connections() const noexcept { return connections_; }
  /// Of Buffers; for tests and `fulmar info`.
  [[nodiscard]] const Buffers& buffers() const noexcept { return buffers_; }

 private:
  static constexpr std::size_t most_hot = 4;

  Streams(const Config& config, base::UniqueFd epoll);

  /// The peer if lane 0 is up; else null, and `otherwise` is what to answer. A packet for a peer
  /// that is lost is dropped: `done`. So is one about flow for a peer that has left.
  Peer* ready_peer(std::uint32_t peer, wire::PacketKind kind, Post& otherwise);
  Peer& peer_at(std::uint32_t peer);
  [[nodiscard]] LifeRules rules() const noexcept { return {config_.left != nullptr, leaving_}; }
  /// An answer for a packet that is not sent; may lose the peer.
  Post post_to_absent(std::uint32_t peer, Admission admission);
  static Connection& least_loaded(Peer& peer) noexcept;
  Post send(Connection& connection, const wire::Envelope& envelope,
            std::span<const std::byte> body);
  Post collect(Connection& connection, const wire::Envelope& envelope,
               std::span<const std::byte> body);
  void want_flush(Connection& connection);
  /// Takes note of how a write went.
  void settle(Connection& connection, const Writing& writing);
  void drop(std::uint32_t peer, std::uint64_t token);
  bool write(Connection& connection, Io::Next next);
  void note_next(Connection& connection, Io::Next next);
  void write_signals(Connection& connection);
  void part_from_all();
  bool flush_unsent();
  bool retry_blocked();

  bool read_hot(SinkRef sink, unsigned& packets);
  bool read_ready(SinkRef sink, unsigned& packets);
  bool read(Connection& connection, SinkRef sink, unsigned& packets);
  void after_reading(Connection& connection, const Reading& reading);
  void count_taken(Connection& connection);
  void warm(Connection& connection);
  /// What epoll tells about a connection.
  enum class Interest : std::uint8_t { arrival, arrival_and_room };
  void watch_room(Connection& connection, Interest interest);
  /// Asks the kernel about the connections that have not answered, when it is time.
  void check_answers_when_due();
  void check_all_answers(std::uint64_t now_ns, bool is_late);

  void lose(std::uint32_t peer, const base::Error& why);
  bool reap();
  void close(Connection& connection);
  void forget_if_gone(std::uint32_t peer);
  unsigned tell_finished(SinkRef sink);

  Config config_;
  SystemIo system_io_;
  Io& io_;
  base::UniqueFd epoll_;
  Buffers buffers_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::unique_ptr<std::byte[]> scratch_;
  std::vector<Connection*> unsent_;
  std::vector<Connection*> blocked_;
  std::array<Connection*, most_hot> hot_{};
  std::size_t hot_count_ = 0;
  std::vector<FinishedSend> finished_;
  std::vector<FinishedSend> abandoned_;  ///< told when the connection is closed
  std::vector<FinishedSend> telling_;
  std::vector<std::uint32_t> lost_;  ///< peers whose loss is not told yet
  std::vector<Connection*> ended_;   ///< connections that end in good order
  std::size_t next_blocked_ = 0;
  std::size_t connections_ = 0;
  std::uint64_t polls_ = 1;
  std::int64_t next_check_ns_ = -1;  ///< -1: nobody is to be asked
  bool any_unanswered_ = false;
  bool armed_ = false;  ///< since the last poll
  bool events_due_ = false;
  bool watched_ready_ = false;
  bool leaving_ = false;
  wire::TcpSignal last_word_ = wire::TcpSignal::bye;
  bool signals_owed_ = false;  ///< there was no memory to tell a peer something
};

}  // namespace fulmar::fabric::tcp
