// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/copy.h"
#include "base/engine_lock.h"
#include "device/completion.h"
#include "device/config.h"
#include "device/flow/flow_control.h"
#include "device/flow/outbox.h"
#include "device/matching/arrival.h"
#include "device/matching/early_arrivals.h"
#include "device/operation.h"
#include "device/packet/packet_handlers.h"
#include "device/peer/peer_table.h"
#include "device/progress/hook.h"
#include "device/progress/waiting.h"
#include "device/protocol/active_transfers.h"
#include "device/protocol/cancelling.h"
#include "device/protocol/copy_choice.h"
#include "device/protocol/operations.h"
#include "device/protocol/placement.h"
#include "device/protocol/protocols.h"
#include "device/protocol/rdma_memory.h"
#include "device/protocol/rndv_copy.h"
#include "device/protocol/rndv_rdma.h"
#include "device/protocol/rndv_stream.h"
#include "device/service.h"
#include "device/shm_coll/shm_coll_area.h"
#include "device/stats/stats.h"
#include "device/transport/transports.h"
#include "match/matcher.h"

/// The device: messages between processes, over the shared memory of the node and one network. This is the face over
/// the parts that the folders hold (docs/adr/0019). Peers are ids of processes; communicators are unknown here.
///
/// Thread rule: every member needs the engine's lock. `wait` gives it up while it sleeps.
namespace fulmar::device {

class Device {
 public:
  using Config = device::Config;
  using Counters = device::Counters;

  Device(const Config& config, base::EngineLock& lock) noexcept;
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// Before the first message; see Transports.
  void use(fabric::Shm& shm, std::span<const std::uint32_t> ranks = {}) {
    transports_.use(shm, ranks);
  }
  void use(fabric::Network& network) { transports_.use(network); }
  [[nodiscard]] NodeChannel* node() noexcept { return transports_.node(); }
  [[nodiscard]] fabric::Network* network() const noexcept { return transports_.network(); }
  /// Lets this process sleep on the network and on shared memory at once; after both `use`.
  [[nodiscard]] base::Error use_wake_socket() { return waiting_.use_wake_socket(); }
  [[nodiscard]] const Config& config() const noexcept { return config_; }
  [[nodiscard]] base::EngineLock& lock() noexcept { return lock_; }
  [[nodiscard]] RegistrationCache& memory() noexcept { return rdma_memory_.cache(); }
  [[nodiscard]] Service& service() noexcept { return service_; }
  [[nodiscard]] Failures& failures() noexcept { return failures_; }
  /// Where layers above add handlers for packets of their own kinds.
  [[nodiscard]] PacketHandlers& handlers() noexcept { return handlers_; }
  /// The completions of posts on the network, also of those of layers above.
  [[nodiscard]] Completions& completions() noexcept { return completions_; }

  /// The processes that can be sent to: those of this job, and of jobs that were added (ProcessTable::add_job).
  [[nodiscard]] const fabric::ProcessTable& processes() const noexcept { return *processes_; }
  [[nodiscard]] std::optional<std::uint32_t> add_job(std::uint32_t job, std::uint32_t size,
                                                     const base::Key& key);

  // --- messages

  /// Sends a short run of bytes if that can be done at once: true when the message is on its way
  /// and the buffer may be reused. The straight way for blocking and immediate sends alike.
  [[nodiscard, gnu::always_inline]] inline bool send_now(match::Key key, const void* data,
                                                         std::uint64_t bytes) noexcept {
    Peer* peer = peers_.find(key.peer);
    if (bytes > wire::Cell::inline_bytes || peer == nullptr || !peer->clear) [[unlikely]]
      return false;
    const wire::Envelope envelope{wire::PacketKind::eager, 0, key.context, key.tag,
                                  static_cast<std::uint32_t>(bytes)};
    const auto fill = [=](std::span<std::byte> to, std::uint64_t) __attribute__((always_inline)) {
      base::copy_short(to.data(), data, bytes);
    };
    return node()->channel().put(*peer->link, envelope, fill) == fabric::Post::done;
  }

  /// Start a send, whose key, buffer and mode are set, or a receive. May be done on return.
  void start_send(Operation& operation) noexcept;
  void start_receive(Operation& operation) noexcept;

  /// The first message that a receive with this key would match; it stays queued. nullptr if none
  /// has arrived; senders that hold messages back are asked then.
  [[nodiscard]] Arrival* find_arrival(const match::Key& key) noexcept;
  /// Takes a found message out of the queue, for `receive_taken` alone (matched probe).
  void take_arrival(Arrival& arrival) noexcept { device::take_arrival(matcher_, early_, arrival); }
  void receive_taken(Operation& operation, Arrival& arrival) noexcept;

  /// Tries to withdraw an operation that is not done. A receive that was not matched is done and
  /// cancelled on return; a send may be so later, or complete normally.
  void cancel(Operation& operation) noexcept { cancelling_.cancel(operation); }

  /// Ends an operation that has been announced, or whose bytes move, with this error, because its
  /// peer will not take part any more: at once, or as soon as no network uses its memory.
  void abort(Operation& operation, base::ErrorClass error) noexcept {
    protocols_.abort(operation, error);
  }
  /// All protocols, for reports.
  [[nodiscard]] static std::span<const Protocol> protocols() noexcept { return protocol_table; }

  /// Ends an operation that has no message of its own (a generalized request); threads that wait are notified.
  void complete(Operation& operation) noexcept {
    finish(operation, waiting_);
    waiting_.notify_change();
  }

  // --- progress and waiting

  /// Polls everything that can move, once. Returns how much moved. Polling a network is a system
  /// call: one from which nothing has arrived for a while is polled only now and then, if there is
  /// shared memory, too; `at_all` polls it in any case.
  using Look = device::Look;
  unsigned progress(Look look = Look::as_due) noexcept;

  /// Returns when `finished()` is true. Spins, yields or sleeps as the situation demands.
  template <class Finished>
  void wait(Finished&& finished, WaitNote note = {}) noexcept {
    if (finished()) return release_held();
    if (lock_.enabled()) return waiting_.wait_with_threads(holds<Finished>, &finished, note);
    Idle idle(config_.wait_style, config_.oversubscribed, waiting_.yield_cost());
    while (!finished()) {
      if (progress() != 0) {
        idle.reset();
      } else if (idle.step() == Idle::Advice::sleep) [[unlikely]] {
        idle.note(waiting_.sleep(note, idle.quiet_sleeps()));
      }
    }
    release_held();
  }
  /// As wait, for a condition that another process makes true in memory; it must wake this one if it sleeps.
  template <class Finished>
  void wait_for_memory(Finished&& finished, WaitNote note) noexcept {
    if (finished()) return release_held();
    if (!config_.oversubscribed && !lock_.enabled()) {
      for (int look = 0; look < polls_before_progress; ++look) {
        base::arch::pause();
        if (finished()) return release_held();
      }
    }
    wait_watching(holds<Finished>, &finished, note);
  }
  void wait_done(const Operation& operation,
                 WaitNote::Kind kind = WaitNote::Kind::message) noexcept {
    wait([&]() noexcept { return operation.done(); }, {kind, &operation});
  }

  /// Sends packets that the network batches: the caller may not poll again for a while.
  void release_held() noexcept { transports_.flush(); }

  /// For calls that test once and return: makes progress, and yields the processor where calls in a row move nothing.
  void poll(WaitNote note = {}) noexcept;

  /// Sends without a waiting request (freed requests, buffered sends): `drain` waits for them.
  void add_unattended() noexcept { ++unattended_; }
  void remove_unattended() noexcept { --unattended_; }
  /// For finalization: returns when all is sent but what is queued for peers that have left.
  void drain() noexcept;
  using ProgressCallback = device::ProgressCallback;
  void add_progress_callback(ProgressCallback& hook) noexcept;
  void remove_progress_callback(ProgressCallback& hook) noexcept { callbacks_.remove(hook); }

  // --- short collective operations; see device/shm_coll/shm_coll_area.h

  /// The collective areas with this index of these processes, of which this one is number `self`;
  /// nullptr where they cannot all be read, which is the same in each of them.
  [[nodiscard]] std::unique_ptr<ShmCollArea> make_coll_area(std::uint32_t index,
                                                            std::span<const std::uint32_t> peers,
                                                            int self, std::uint64_t first_round);
  [[nodiscard]] ShmCollAreaPool& coll_areas() noexcept { return coll_areas_; }
  /// Wake a sleeping process of the node, by its number there; this one, from any thread.
  void wake(std::uint32_t number) noexcept;
  void wake_self() noexcept { waiting_.wake_self(); }
  void count_single_copy() noexcept { ++stats_.counters().single_copies; }

  // --- figures; see also device/stats/figures.cc
  /// Calls `observer` from now on, which stays valid until the next call; nullptr: none, which costs
  /// the paths of short messages nothing: see `alarm_bytes_`.
  void observe(Observer* observer) noexcept;
  /// A condition that threads may wait for has changed in progress, without an operation's end.
  void wake_waiters() noexcept { waiting_.note_change(); }
  /// Lets the observer's `settle` be called soon, where that may call MPI.
  void defer() noexcept { waiting_.defer(); }

  /// What may change while messages are under way. Lengths and limits are in bytes.
  void set_eager_bytes(std::uint64_t bytes) noexcept { config_.eager_bytes = bytes; }
  [[nodiscard]] bool sends_eagerly(std::uint32_t to, std::uint64_t bytes) noexcept;
  void set_share_bytes(std::uint64_t bytes) noexcept { config_.share_bytes = bytes; }
  void set_long_copy(LongCopy way) noexcept { copy_choice_.fix(way); }
  void set_remote_way(RdmaProtocol way) noexcept { config_.rdma_protocol = way; }
  void set_remote_bytes(std::uint64_t bytes) noexcept { config_.remote_bytes = bytes; }
  void set_remote_study(const RemoteStudy& study) noexcept { config_.remote_study = study; }
  void set_remote_schedule(const RemoteSchedule& s) noexcept { config_.remote_schedule = s; }
  enum class Yield : bool { late, soon };
  void set_yield(Yield yield) noexcept { config_.oversubscribed = yield == Yield::soon; }
  void set_wait_style(WaitStyle style) noexcept { config_.wait_style = style; }
  void set_unexpected_budget(std::uint64_t bytes) noexcept;
  /// A process has left MPI: it answers no earlier request, and its hold is gone.
  void forget_hold(std::uint32_t rank) noexcept;
  /// This process has left MPI and is back: this peer does not remember its hold.
  void forget_own_hold(std::uint32_t rank) noexcept;

  [[nodiscard]] const Counters& counters() const noexcept { return stats_.counters(); }
  [[nodiscard]] std::uint64_t unexpected_bytes() const noexcept { return arrivals_.bytes_in_use(); }
  /// Operations that a peer may name.
  [[nodiscard]] std::size_t named_operations() const noexcept {
    return operations_.all_named().live();
  }
  /// Messages for which memory is open.
  [[nodiscard]] std::size_t transfers() const noexcept { return rdma_memory_.transfers().live(); }
  [[nodiscard]] const match::Matcher& matcher() const noexcept { return matcher_; }
  [[nodiscard]] std::size_t connected_peers() const noexcept { return peers_.connected().size(); }
  /// Whether something was sent to a process, and nothing of it cancelled.
  [[nodiscard]] bool has_sent_to(std::uint32_t id) const noexcept;
  [[nodiscard]] std::size_t held_senders() const noexcept { return flow_.held_senders(); }
  [[nodiscard]] std::size_t backlogged_peers() const noexcept { return outbox_.backlog().size(); }
  [[nodiscard]] std::uint64_t unattended_sends() const noexcept { return unattended_; }
  [[nodiscard]] std::uint64_t progress_calls() const noexcept { return progress_calls_; }
  /// Packets that went through shared memory, control packets too.
  [[nodiscard]] std::uint64_t packets_sent() noexcept;
  [[nodiscard]] std::uint64_t packets_received() noexcept;
  /// Private rings that peers hold here.
  [[nodiscard]] std::size_t rings_polled() noexcept;
  [[nodiscard]] match::Matcher& queues() noexcept { return matcher_; }  ///< for reports

  /// What a channel calls with each packet (fabric::Sink).
  void packet(std::uint32_t peer, const wire::Envelope& envelope,
              const fabric::Body& body) noexcept {
    if (stats_.packet_look().on) [[unlikely]]
      return traced_packet(peer, envelope, body);
    take_packet(peer, envelope, body);
  }
  // What a network calls with the bytes of long messages (fabric::PlacesBodies).
  [[nodiscard]] std::span<const iovec> place(std::uint32_t peer, const wire::Envelope& envelope,
                                             std::span<const std::byte> prefix,
                                             std::uint64_t offset, std::uint64_t bytes) noexcept {
    return placement_.place(peer, envelope, prefix, offset, bytes);
  }
  void placed(std::uint32_t peer, const wire::Envelope& envelope, std::span<const std::byte> prefix,
              std::uint64_t offset, std::uint64_t bytes) noexcept {
    placement_.placed(peer, envelope, prefix, offset, bytes);
  }
  void part(std::uint32_t peer, const wire::Envelope& envelope, std::span<const std::byte> prefix,
            std::uint64_t offset, std::span<const std::byte> payload) noexcept {
    placement_.part(peer, envelope, prefix, offset, payload);
  }
  /// The same for a short message whose body is on its way (fabric::ExpectsBodies).
  [[nodiscard]] bool expect(std::uint32_t peer, const wire::Envelope& envelope) noexcept {
    return placement_.expect(peer, envelope);
  }
  /// A network is done with the memory of a post; see device/completion.h.
  void sent(std::uint64_t token, fabric::Sent how) noexcept { completions_.end(token, how); }

 private:
  friend class Service;
  friend class Failures;
  friend class Drain;

  void add_handlers() noexcept;

  // protocol/send.cc
  std::uint32_t inlined_bytes(const Operation& send, const wire::RtsBody& body) noexcept;
  std::uint32_t head_bytes(const Operation& send) noexcept;
  void send_to_self(Operation& operation) noexcept;
  fabric::Post post_message(Operation& operation) noexcept;
  fabric::Post post_eager(Operation& operation) noexcept;
  fabric::Post post_announcement(Operation& operation) noexcept;
  wire::RtsBody announcement_of(Operation& operation, bool early) noexcept;
  wire::RtsBody announce(Operation& operation, bool early) noexcept;

  // protocol/receive.cc
  void receive_arrival(Operation& operation, Arrival& arrival) noexcept;
  void receive_local(Operation& operation, Operation& send) noexcept;
  void receive_bytes(Operation& operation, const match::Key& key, const fabric::Body& body,
                     std::uint64_t skip = 0) noexcept;

  [[gnu::always_inline]] inline void take_packet(std::uint32_t peer, const wire::Envelope& envelope,
                                                 const fabric::Body& body) noexcept {
    if (envelope.kind == wire::PacketKind::eager) [[likely]] {
      const match::Key key{envelope.context, peer, envelope.tag};
      if (match::Posted* posted = matcher_.take_posted(key); posted != nullptr) {
        Operation& receive = *operation_of(posted);
        if (body.size() <= std::min<std::uint64_t>(receive.buffer.bytes, base::copy_short_limit) &&
            receive.buffer.packer == nullptr) [[likely]] {
          receive.outcome = {key.peer, key.tag, body.size(), base::ErrorClass::success, false};
          base::copy_short(receive.buffer.address, body.bytes().data(), body.size());
        } else {
          receive_bytes(receive, key, body);
        }
        finish(receive, waiting_);
        return;
      }
    }
    slow_packet(peer, envelope, body);
  }
  // packet/packets.cc; stats/trace.cc
  [[gnu::cold]] void traced_packet(std::uint32_t peer, const wire::Envelope& envelope,
                                   const fabric::Body& body) noexcept;
  [[gnu::noinline]] void slow_packet(std::uint32_t peer, const wire::Envelope& envelope,
                                     const fabric::Body& body) noexcept;
  void unmatched(const match::Key& key, const wire::Envelope& envelope,
                 std::span<const std::byte> body) noexcept;
  Arrival* make_arrival(std::uint64_t bytes) noexcept;
  [[gnu::cold]] void over_alarm(const match::Key& key, std::uint64_t length) noexcept;
  void on_eager(const Packet& packet) noexcept;
  void on_eager_sync(const Packet& packet) noexcept;
  void on_announcement(const Packet& packet) noexcept;
  void on_sync_ack(Peer& peer, const wire::CookieBody& answer) noexcept;
  void on_fin(Peer& peer, const wire::CookieBody& answer) noexcept;
  void acknowledge(Operation& send) noexcept;

  // progress/progress.cc
  void wake_for_held() noexcept;
  unsigned poll_network(Look look) noexcept;
  void balance() noexcept;

  static constexpr int polls_before_progress = 64;
  template <class Finished>
  static bool holds(void* finished) noexcept {
    return bool((*static_cast<std::remove_reference_t<Finished>*>(finished))());
  }
  [[gnu::noinline]] void wait_watching(bool (*finished)(void*) noexcept, void* argument,
                                       WaitNote note) noexcept;

  Config config_;
  base::EngineLock& lock_;
  Transports transports_;
  match::Matcher matcher_;
  Stats stats_;
  std::shared_ptr<fabric::ProcessTable> processes_;
  PeerTable peers_{transports_};
  PacketHandlers handlers_{peers_, stats_.counters().malformed};
  ArrivalPool arrivals_;
  ProgressCallbacks callbacks_;
  ProgressState progress_;
  Waiting waiting_;
  Outbox outbox_;
  FlowControl flow_;
  Completions completions_;
  CopyChoice copy_choice_;
  Heads heads_;
  ActiveTransfers active_;
  RdmaMemory rdma_memory_;
  Operations operations_;
  RndvStream stream_;
  RndvCopy copy_;
  RndvRdma rdma_;
  Protocols protocols_;
  Placement placement_;
  EarlyArrivals early_;
  Cancelling cancelling_;
  Failures failures_{*this};
  Service service_{*this};
  std::uint64_t progress_calls_ = 0;
  std::uint32_t idle_polls_ = 0;  ///< of the network, since something arrived from it
  std::uint64_t unattended_ = 0;
  std::uint64_t alarm_bytes_;  ///< of unexpected data: the budget, or 0 with an observer
  ShmCollAreaPool coll_areas_;
};

}  // namespace fulmar::device
