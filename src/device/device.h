// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/copy.h"
#include "base/engine_lock.h"
#include "base/os/wake_socket.h"
#include "base/slot_map.h"
#include "device/completion.h"
#include "device/config.h"
#include "device/flow/flow_control.h"
#include "device/flow/outbox.h"
#include "device/matching/arrival.h"
#include "device/operation.h"
#include "device/packet/packet_handlers.h"
#include "device/peer/peer_table.h"
#include "device/progress/hook.h"
#include "device/progress/poll_watch.h"
#include "device/progress/waiting.h"
#include "device/protocol/copy_choice.h"
#include "device/protocol/protocol.h"
#include "device/protocol/rdma_transfer.h"
#include "device/protocol/share_pool.h"
#include "device/regcache/memory_opener.h"
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
  [[nodiscard]] base::Error use_wake_socket();
  [[nodiscard]] const Config& config() const noexcept { return config_; }
  [[nodiscard]] base::EngineLock& lock() noexcept { return lock_; }
  [[nodiscard]] RegistrationCache& memory() noexcept { return memory_opener_; }
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
  void take_arrival(Arrival& arrival) noexcept;
  void receive_taken(Operation& operation, Arrival& arrival) noexcept;

  /// Tries to withdraw an operation that is not done. A receive that was not matched is done and
  /// cancelled on return; a send may be so later, or complete normally.
  void cancel(Operation& operation) noexcept;

  /// Ends an operation that has been announced, or whose bytes move, with this error, because its
  /// peer will not take part any more: at once, or as soon as no network uses its memory.
  void abort(Operation& operation, base::ErrorClass error) noexcept;
  /// All protocols, for reports.
  [[nodiscard]] static std::span<const Protocol> protocols() noexcept { return protocol_table; }

  /// Ends an operation that has no message of its own (a generalized request); threads that wait are notified.
  void complete(Operation& operation) noexcept {
    finish(operation);
    if (waiters_stale_ && !in_progress_) [[unlikely]]
      notify_waiters();
  }

  // --- progress and waiting

  /// Polls everything that can move, once. Returns how much moved. Polling a network is a system
  /// call: one from which nothing has arrived for a while is polled only now and then, if there is
  /// shared memory, too; `at_all` polls it in any case.
  enum class Look : bool { as_due, at_all };
  unsigned progress(Look look = Look::as_due) noexcept;

  /// Returns when `finished()` is true. Spins, yields or sleeps as the situation demands.
  template <class Finished>
  void wait(Finished&& finished, WaitNote note = {}) noexcept {
    if (finished()) return release_held();
    if (lock_.enabled()) return wait_with_threads(holds<Finished>, &finished, note);
    Idle idle(config_.wait_style, config_.oversubscribed, yield_cost_);
    while (!finished()) {
      if (progress() != 0) {
        idle.reset();
      } else if (idle.step() == Idle::Advice::sleep) [[unlikely]] {
        idle.note(sleep(note, idle.quiet_sleeps()));
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
  void remove_progress_callback(ProgressCallback& hook) noexcept { hooks_.remove(hook); }

  // --- short collective operations; see device/shm_coll/shm_coll_area.h

  /// The collective areas with this index of these processes, of which this one is number `self`;
  /// nullptr where they cannot all be read, which is the same in each of them.
  [[nodiscard]] std::unique_ptr<ShmCollArea> make_coll_area(std::uint32_t index,
                                                            std::span<const std::uint32_t> peers,
                                                            int self, std::uint64_t first_round);
  [[nodiscard]] ShmCollAreaPool& coll_areas() noexcept { return coll_areas_; }
  /// Wake a sleeping process of the node, by its number there; this one, from any thread.
  void wake(std::uint32_t number) noexcept;
  void wake_self() noexcept;
  void count_single_copy() noexcept { ++stats_.counters().single_copies; }

  // --- figures; see also device/stats/figures.cc
  /// Calls `observer` from now on, which stays valid until the next call; nullptr: none, which costs
  /// the paths of short messages nothing: see `alarm_bytes_`.
  void observe(Observer* observer) noexcept;
  /// A condition that threads may wait for has changed in progress, without an operation's end.
  void wake_waiters() noexcept { waiters_stale_ = waiters_stale_ || first_waiter_ != nullptr; }
  /// Lets the observer's `settle` be called soon, where that may call MPI.
  void defer() noexcept { settle_due_ = waiters_stale_ = true; }

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
  [[nodiscard]] std::size_t named_operations() const noexcept { return cookies_.live(); }
  /// Messages for which memory is open.
  [[nodiscard]] std::size_t transfers() const noexcept { return transfers_.live(); }
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
                                             std::uint64_t offset, std::uint64_t bytes) noexcept;
  void placed(std::uint32_t peer, const wire::Envelope& envelope, std::span<const std::byte> prefix,
              std::uint64_t offset, std::uint64_t bytes) noexcept;
  void part(std::uint32_t peer, const wire::Envelope& envelope, std::span<const std::byte> prefix,
            std::uint64_t offset, std::span<const std::byte> payload) noexcept;
  /// The same for a short message whose body is on its way (fabric::ExpectsBodies).
  [[nodiscard]] bool expect(std::uint32_t peer, const wire::Envelope& envelope) noexcept;
  /// A network is done with the memory of a post; see device/completion.h.
  void sent(std::uint64_t token, fabric::Sent how) noexcept { completions_.end(token, how); }

 private:
  // protocol/send.cc
  std::uint32_t inlined_bytes(const Operation& send, const wire::RtsBody& body) noexcept;
  std::uint32_t head_bytes(const Operation& send) noexcept;
  void send_to_self(Operation& operation) noexcept;
  fabric::Post post_eager(Operation& operation) noexcept;
  fabric::Post post_announcement(Operation& operation) noexcept;
  wire::RtsBody announcement_of(Operation& operation, bool early) noexcept;
  wire::RtsBody announce(Operation& operation, bool early) noexcept;

  // receive.cc
  void receive_arrival(Operation& operation, Arrival& arrival) noexcept;
  void receive_local(Operation& operation, Operation& send) noexcept;
  void receive_bytes(Operation& operation, const match::Key& key, const fabric::Body& body,
                     std::uint64_t skip = 0) noexcept;
  void settle_length(Operation& operation, const match::Key& key, std::uint64_t length) noexcept;
  void finish(Operation& operation) noexcept {
    operation.stage = Stage::done;
    if (first_waiter_ != nullptr) [[unlikely]]
      waiters_stale_ = true;
    if (operation.on_done != nullptr) operation.on_done(operation);
  }
  void finish_send(Operation& operation) noexcept;

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
        finish(receive);
        return;
      }
    }
    slow_packet(peer, envelope, body);
  }
  // packets.cc; trace.cc
  [[gnu::cold]] void traced_packet(std::uint32_t peer, const wire::Envelope& envelope,
                                   const fabric::Body& body) noexcept;
  [[gnu::noinline]] void slow_packet(std::uint32_t peer, const wire::Envelope& envelope,
                                     const fabric::Body& body) noexcept;
  void unmatched(const match::Key& key, const wire::Envelope& envelope,
                 std::span<const std::byte> body) noexcept;
  Arrival* make_arrival(std::uint64_t bytes) noexcept;
  void add_handlers() noexcept;
  void on_eager(const Packet& packet) noexcept;
  void on_eager_sync(const Packet& packet) noexcept;
  void on_announcement(const Packet& packet) noexcept;
  void on_sync_ack(Peer& peer, const wire::CookieBody& answer) noexcept;
  void on_fin(Peer& peer, const wire::CookieBody& answer) noexcept;
  void acknowledge(Operation& send) noexcept;
  Operation* named(Peer& peer, wire::Cookie cookie) noexcept;
  Operation* named(Peer& peer, wire::Cookie cookie, bool send) noexcept;

  // cancel.cc
  void finish_cancelled(Operation& operation) noexcept;
  bool withdraw_local(Operation& send) noexcept;
  void send_cancel_request(Operation& send) noexcept;
  void drop_cancel_request(Operation& send) noexcept;
  unsigned poll_departures() noexcept;
  unsigned give_up_asking(Peer& peer) noexcept;
  bool has_wanted_backlog() noexcept;
  bool has_left(const Peer& peer) noexcept;
  void on_cancel(Peer& peer, const wire::CookieBody& request) noexcept;
  void on_cancel_reply(Peer& peer, const wire::CancelBody& answer) noexcept;

  // protocols.cc
  static const std::array<Protocol, protocol_count> protocol_table;
  static const Protocol& protocol(ProtocolId id) noexcept {
    return protocol_table[static_cast<std::size_t>(id)];
  }
  fabric::Post post_message(Operation& operation) noexcept;
  void start_rendezvous(Operation& receive, Peer& peer, const Announced& message) noexcept;
  unsigned advance(Operation& operation, bool& in_place) noexcept;
  void fail(Operation& operation, base::ErrorClass error) noexcept;

  // rendezvous.cc
  bool could_share(const Operation& receive) noexcept;
  void choose_copy(Operation& receive) noexcept;
  void run_rendezvous(Operation& receive, const Announced& message) noexcept;
  void receive_head(Operation& receive, Peer& peer, const Announced& message,
                    const fabric::Body& body) noexcept;
  bool can_rndv_share(const Operation& receive, const Announced& message) noexcept;
  bool start_rndv_share(Operation& receive, const Announced& message) noexcept;
  unsigned step_rndv_share(Operation& operation, bool& in_place) noexcept;
  void abort_rndv_share(Operation& operation, base::ErrorClass error) noexcept;
  bool can_rndv_copy(const Operation& receive, const Announced& message) noexcept;
  bool start_rndv_copy(Operation& receive, const Announced& message) noexcept;
  unsigned step_rndv_copy(Operation& receive, bool& in_place) noexcept;
  void abort_rndv_copy(Operation& operation, base::ErrorClass error) noexcept;
  bool start_rndv_stream(Operation& receive, const Announced& message) noexcept;
  unsigned step_rndv_stream(Operation& send, bool& in_place) noexcept;
  void abort_rndv_stream(Operation& operation, base::ErrorClass error) noexcept;
  void note_way(const Operation& receive) noexcept;
  void start_stream(Operation& receive) noexcept;
  void finish_rendezvous(Operation& receive) noexcept;
  void on_clear_to_share(Peer& peer, const wire::SharedCopyBody& request) noexcept;
  void on_clear_to_stream(Peer& peer, const wire::StreamBody& request) noexcept;
  void on_data(const Packet& packet) noexcept;
  void add_streamed(Operation& receive, std::uint64_t bytes) noexcept;
  unsigned advance_active() noexcept;
  // remote.cc
  void offer(Operation& send, wire::RtsBody& body) noexcept;
  bool may_move_remotely(const Peer& peer) noexcept;
  bool can_rndv_read(const Operation& receive, const Announced& message) noexcept;
  bool start_rndv_read(Operation& receive, const Announced& message) noexcept;
  bool can_rndv_write(const Operation& receive, const Announced& message) noexcept;
  bool start_rndv_write(Operation& receive, const Announced& message) noexcept;
  unsigned step_rdma(Operation& operation, bool& in_place) noexcept;
  void abort_rdma(Operation& operation, base::ErrorClass error) noexcept;
  void on_clear_to_put(Peer& peer, const wire::PutBody& request) noexcept;
  bool prepare_put(Operation& send, const wire::PutBody& request) noexcept;
  void on_no_put(Peer& peer, const wire::CookieBody& answer) noexcept;
  void finish_put(Operation& receive) noexcept;
  void start_orders(Operation& operation, fabric::RemoteAddress place) noexcept;
  fabric::Post give_order(Operation& operation, RdmaTransfer& transfer) noexcept;
  void order_ended(RdmaTransfer& transfer, fabric::Sent how) noexcept;
  void end_orders(Operation& operation) noexcept;
  void end_put(const Operation& send) noexcept;
  static bool withdraw_fin(const Operation& send) noexcept;
  void retreat(Operation& operation) noexcept;
  void fail_lost_transfers() noexcept;
  bool open_memory(Operation& operation, std::span<std::byte> memory,
                   fabric::Access access) noexcept;
  void close_memory(Operation& operation) noexcept;

  // in_place.cc
  struct Target;
  Target target_of(std::uint32_t peer, const wire::Envelope& envelope,
                   std::span<const std::byte> prefix, std::uint64_t offset,
                   std::uint64_t bytes) noexcept;
  fabric::Post post_in_place(Operation& send) noexcept;
  void part_sent(Operation& send, fabric::Sent how) noexcept;
  fabric::Post post_part(Operation& send, std::size_t most_bytes) noexcept;

  base::Error copy_piece(Operation& operation, std::uint64_t offset, std::uint64_t bytes) noexcept;
  void activate(Operation& operation) noexcept;
  void deactivate(const Operation& operation) noexcept;
  // progress.cc
  void wake_for_held() noexcept;
  unsigned poll_network(Look look) noexcept;

  // matching/early_arrivals.cc
  void on_settled(Peer& peer, const wire::SettledBody& news, const match::Key& key) noexcept;
  void await_turn(Arrival& arrival) noexcept;
  void forget_turn(const Arrival& arrival) noexcept;
  unsigned match_early() noexcept;

  // figures.cc
  [[gnu::cold]] void over_alarm(const match::Key& key, std::uint64_t length) noexcept;
  [[gnu::noinline]] void finish_progress() noexcept;
  void settle() noexcept;

  /// Pieces of one packet whose bytes a network takes from, or puts to, where they lie.
  static constexpr std::size_t most_pieces = 64;
  /// Pieces of non-contiguous data that are shorter than this on average are copied.
  static constexpr std::uint64_t smallest_piece_bytes = 256;
  static constexpr int polls_before_progress = 64;
  template <class Finished>
  static bool holds(void* finished) noexcept {
    return bool((*static_cast<std::remove_reference_t<Finished>*>(finished))());
  }
  [[gnu::noinline]] void wait_watching(bool (*finished)(void*) noexcept, void* argument,
                                       WaitNote note) noexcept;

  // wait.cc
  friend class Service;
  friend class Failures;
  friend class Drain;
  void prepare_sleep(SleepPlace& place) noexcept;
  void finish_sleep() noexcept;
  void fence_senders() noexcept;
  void count_sleep(std::uint64_t slept_ns) noexcept;
  [[gnu::noinline]] SleepEnd sleep(WaitNote what, std::uint32_t quiet_sleeps) noexcept;
  void report_quiet(WaitNote note, std::uint32_t quiet_sleeps) noexcept;
  [[gnu::cold]] void report_polling(WaitNote note) noexcept;
  void give_up_membarrier() noexcept;
  void wait_with_threads(bool (*finished)(void*) noexcept, void* argument, WaitNote note) noexcept;
  void lead(Waiter& self) noexcept;
  bool leader_ready() noexcept;
  void balance() noexcept;
  void add_waiter(Waiter& waiter) noexcept;
  void remove_waiter(Waiter& waiter) noexcept;
  void notify_waiters() noexcept;
  void signal(Waiter& waiter) noexcept;
  void wake_service() noexcept;

  Config config_;
  base::EngineLock& lock_;
  Transports transports_;
  match::Matcher matcher_;
  Stats stats_;
  std::shared_ptr<fabric::ProcessTable> processes_;
  PeerTable peers_{transports_};
  PacketHandlers handlers_{peers_, stats_.counters().malformed};
  ArrivalPool arrivals_;
  Outbox outbox_;
  FlowControl flow_;
  base::SlotMap<Operation> cookies_;  ///< operations that peers may name
  Completions completions_;
  SharePool shares_;
  CopyChoice copy_choice_;
  Heads heads_;
  std::array<iovec, most_pieces> pieces_;  ///< of the last answer of `place`
  Operation* active_ = nullptr;            ///< long transfers that move with progress
  Operation* next_active_ = nullptr;       ///< the next one for `advance_active`
  Failures failures_{*this};
  EarlyArrivals early_;
  DepartureWatch departures_;
  ProgressCallbacks hooks_;
  Waiter* first_waiter_ = nullptr;
  Waiter* leader_ = nullptr;
  Service service_{*this};
  bool waiters_stale_ = false;
  bool settle_due_ = false;  ///< set together with waiters_stale_, which progress checks
  bool in_progress_ = false;
  bool sleeping_ = false;
  std::uint64_t progress_calls_ = 0;
  std::uint32_t idle_polls_ = 0;  ///< of the network, since something arrived from it
  std::optional<base::WakeSocket> wake_socket_;
  std::int64_t quiet_since_ns_ = 0;
  std::uint32_t missed_polls_ = 0;
  std::uint64_t moved_ = 0;  ///< all that progress ever moved
  YieldCost yield_cost_;
  PollWatch poll_watch_;
  std::uint64_t unattended_ = 0;
  std::uint64_t alarm_bytes_;  ///< of unexpected data: the budget, or 0 with an observer
  ShmCollAreaPool coll_areas_;
  RdmaTransfers transfers_;
  RegistrationCache memory_opener_;
};

}  // namespace fulmar::device
