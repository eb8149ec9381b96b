// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/os/fd.h"
#include "fabric/verbs/adapter.h"
#include "fabric/verbs/config.h"
#include "fabric/verbs/two_queues.h"

/// Adapters that stand in for those of libibverbs: they keep the rules that hold for connected
/// queue pairs and registered memory, insist that they are used by them (else the program ends), do
/// things as late as the rules allow, refuse and fail.
namespace fulmar::fabric {

struct VerbsHabits {
  double reluctance = 0;  ///< posts are refused, and reads bring nothing, with this probability
  double lag = 0;         ///< probability that a poll does not begin an RDMA operation
  double answer_lag = 0;  ///< probability that a poll does not complete an RDMA read
  std::size_t inline_bytes = 220;
  std::size_t receive_depth = 256;
  std::size_t send_depth = 128;
  std::size_t completion_depth = 2048;
  std::size_t most_registered = SIZE_MAX;  ///< bytes; more is refused
  wire::VerbsLink link = wire::VerbsLink::ethernet;
  std::uint8_t max_reads = 4;
  std::size_t max_rdma_bytes = SIZE_MAX;
  bool atomics = true;
  bool writes_in_order = true;
  bool places_in_order = true;
  bool tears = false;     ///< the bytes of a write arrive one by one, with polls in between
  bool descends = false;  ///< then: the last byte comes first
  std::size_t rings = verbs::usual_rings;  ///< that each rank lends
  std::uint32_t ringless = UINT32_MAX;     ///< a rank that wants none
  verbs::CompletionQueues completion_queues = verbs::CompletionQueues::one;
  bool calls = false;                         ///< completions make a descriptor readable
  bool come_back = false;                     ///< peers that have left may return
  bool loopback = false;                      ///< the ranks connect over TCP
  std::uint64_t patience_ns = 4'000'000'000;  ///< see verbs::Config
};

class VerbsStandIn;
class QueueStandIn;

/// What connects the adapters.
struct VerbsWires {
  explicit VerbsWires(const VerbsHabits& how) : habits(how) {}
  VerbsHabits habits;
  std::mt19937_64 random{11};
  std::map<std::uint32_t, QueueStandIn*> queues;  ///< by number
  std::uint32_t next_number = 0x100;
  std::uint64_t sends = 0;
  std::uint64_t rdma_writes = 0;
  std::uint64_t receives = 0;   ///< calls, of all adapters
  std::uint64_t max_reads = 0;  ///< the same

  [[nodiscard]] bool happens(double probability) {
    return probability > 0 && std::uniform_real_distribution<>(0, 1)(random) < probability;
  }
  [[nodiscard]] bool refuses() { return happens(habits.reluctance); }
  /// Lets all adapters proceed, which needs no processor of a rank.
  void turn();
};

class QueueStandIn final : public verbs::Queue {
 public:
  enum class Kind : std::uint8_t { message, rdma_read, rdma_write, atomic };
  /// An order on its way to the queue that carries it out.
  struct Mail {
    std::vector<std::byte> bytes;  ///< of an inline message or put
    std::uint64_t id = 0;
    bool is_signaled = false;
    std::uint64_t serial = 0;  ///< of the sender's work requests, from 1; 0: a forged packet
    Kind kind = Kind::message;
    std::span<const std::byte> from;  ///< of a put, or another message; read late
    std::uint64_t bytes_to_fetch = 0;
    verbs::RdmaWorkRequest request;
    verbs::AtomicWorkRequest atomic;
    std::optional<std::uint32_t> word;
    bool is_half_done = false;  ///< of a put: its front is there
    std::size_t written = 0;    ///< bytes, of a put that is torn

    /// Takes the bytes of a message out of the sender's memory.
    void settle() {
      if (!from.empty()) bytes.assign(from.begin(), from.end());
      from = {};
    }
    /// The data of a write, at their present address.
    [[nodiscard]] std::span<const std::byte> source() const {
      return from.empty() ? std::span<const std::byte>(bytes) : from;
    }
  };
  /// As libibverbs numbers them.
  static constexpr int flushed = 5;
  static constexpr int not_opened = 10;
  static constexpr int no_answer = 12;

  QueueStandIn(VerbsWires& wires, VerbsStandIn& adapter)
      : wires_(wires), adapter_(adapter), number_(wires.next_number++) {
    wires.queues[number_] = this;
  }
  ~QueueStandIn() override;

  [[nodiscard]] std::uint32_t number() const noexcept override { return number_; }
  [[nodiscard]] std::size_t inline_bytes() const noexcept override {
    return wires_.habits.inline_bytes;
  }
  [[nodiscard]] std::size_t depth() const noexcept override { return wires_.habits.send_depth; }
  [[nodiscard]] base::Error connect(const wire::VerbsConnectionInfo& own,
                                    const wire::VerbsConnectionInfo& theirs) override {
    if (own.queue != number_ || own.first > wire::verbs_number_mask) std::abort();
    if (own.max_reads != wires_.habits.max_reads) std::abort();
    peer_ = theirs.queue;
    return {};
  }
  verbs::PostResult send(const verbs::SendWorkRequest& request) override;
  verbs::PostResult rdma_read(std::span<std::byte> to,
                              const verbs::RdmaWorkRequest& request) override;
  verbs::PostResult rdma_write(std::span<const std::byte> from,
                               const verbs::WriteWorkRequest& request) override;
  verbs::PostResult atomic(std::span<std::byte> was,
                           const verbs::AtomicWorkRequest& request) override;
  [[nodiscard]] std::string last_error() const override { return "the queue is broken"; }

  /// Nothing can be posted from now on.
  void break_down() { broken_ = true; }
  [[nodiscard]] QueueStandIn* other() const {
    const auto found = wires_.queues.find(peer_);
    return found == wires_.queues.end() ? nullptr : found->second;
  }
  /// Orders that have not ended.
  [[nodiscard]] std::size_t under_way() const { return works_.size(); }
  [[nodiscard]] bool uses(std::span<const std::byte> memory) const;

  std::deque<Mail> mail;  ///< that has come and is not carried out

 private:
  friend class VerbsStandIn;
  friend struct VerbsWires;
  /// An own order until it has ended. Orders end as they were posted.
  struct Work {
    std::uint64_t serial = 0;
    std::uint64_t id = 0;
    bool is_signaled = false;
    std::span<const std::byte> from;  ///< of a put or message
    std::span<std::byte> to;          ///< of a fetch
    std::vector<std::byte> answer;    ///< what was fetched, on its way here
    std::optional<int> status;        ///< known; 0: it was carried out
  };
  [[nodiscard]] std::optional<verbs::PostResult> refuses_order();
  verbs::PostResult launch(Mail request, std::span<std::byte> to);
  void serve();
  enum class Step : std::uint8_t { half, whole };
  [[nodiscard]] Step write(Mail& request, std::byte* to);
  [[nodiscard]] Step write_torn(Mail& request, std::byte* to);
  [[nodiscard]] bool may_begin(const Mail& request) const;
  [[nodiscard]] int carry_out(Mail& request, std::vector<std::byte>& answer, Step& step);
  void end(std::uint64_t serial, int status, std::vector<std::byte> answer = {});
  void settle();
  void tell(const Work& work, int status);
  void fail_rest();

  VerbsWires& wires_;
  VerbsStandIn& adapter_;
  std::uint32_t number_;
  std::uint32_t peer_ = 0;
  std::deque<Work> works_;
  std::uint64_t posted_ = 0;
  std::uint64_t ended_ = 0;
  std::uint64_t freed_ = 0;  ///< slots: up to the last signaled one
  bool broken_ = false;
  bool failed_ = false;  ///< in the error state
};

class VerbsStandIn final : public verbs::Adapter {
 public:
  VerbsStandIn(VerbsWires& wires, std::uint32_t self)
      : wires_(wires), both_(wires.habits.receive_depth) {
    traits_.name = "standin" + std::to_string(self) + ":1";
    traits_.gid[15] = static_cast<std::byte>(self + 1);
    traits_.gid[10] = traits_.gid[11] = std::byte{0xff};
    traits_.gid[12] = std::byte{10};
    traits_.link = wires.habits.link;
    traits_.mtu = 3;
    traits_.receive_depth = wires.habits.receive_depth;
    traits_.completion_depth = wires.habits.completion_depth;
    traits_.max_reads = wires.habits.max_reads;
    traits_.max_rdma_bytes = wires.habits.max_rdma_bytes;
    traits_.writes_in_order = wires.habits.writes_in_order;
    traits_.places_in_order = wires.habits.places_in_order;
    traits_.atomics = wires.habits.atomics;
    traits_.place = "10.0.0." + std::to_string(self + 1);
  }
  ~VerbsStandIn() override {
    if (!own_.empty()) std::abort();  // a queue outlives its adapter
  }

  [[nodiscard]] const verbs::Traits& traits() const noexcept override { return traits_; }
  [[nodiscard]] base::Result<MemoryRegion> open_memory(std::span<std::byte> memory,
                                                       Access access) override {
    if (registered_ + memory.size() > wires_.habits.most_registered) {
      return base::failure(base::ErrorClass::no_mem, "%zu bytes are too many", memory.size());
    }
    registered_ += memory.size();
    const std::uint32_t number = next_key_++;
    const MemoryRegion opened{number + 1000, number, number << 8 | 0x5a};
    regions_[number] = {memory, access, opened.rkey};
    return opened;
  }
  std::size_t close_memory(std::uint64_t handle) override {
    const auto found = regions_.find(static_cast<std::uint32_t>(handle - 1000));
    if (found == regions_.end()) return 0;
    const auto memory = found->second.memory;
    for (const QueueStandIn* const queue : own_) {
      if (queue->uses(memory)) std::abort();  // an order that is under way uses it
    }
    registered_ -= memory.size();
    regions_.erase(found);
    return memory.size();
  }
  [[nodiscard]] base::Result<std::unique_ptr<verbs::Queue>> open_queue() override {
    auto queue = std::make_unique<QueueStandIn>(wires_, *this);
    own_.insert(queue.get());
    return std::unique_ptr<verbs::Queue>(std::move(queue));
  }
  std::size_t receive(std::span<const verbs::ReceiveWorkRequest> requests,
                      std::uint32_t key) override {
    ++wires_.receives;
    if (std::exchange(started_, true) && wires_.refuses()) return 0;
    std::size_t taken = 0;
    while (taken < requests.size() && buffers_.size() < traits_.receive_depth) {
      check_registered(requests[taken].memory, key);
      buffers_.push_back(requests[taken++]);
    }
    return taken;
  }
  std::size_t read(std::span<verbs::Completion> completions) override {
    ++wires_.max_reads;
    if (wires_.refuses()) return 0;
    if (!has_two_queues()) return read_from(came_, completions);
    return both_.read(
        completions, [&](std::span<verbs::Completion> to) { return read_from(came_, to); },
        [&](std::span<verbs::Completion> to) { return read_from(ended_, to); });
  }
  [[nodiscard]] std::string text_of(int status) const override {
    return "status " + std::to_string(status);
  }
  [[nodiscard]] int descriptor() const noexcept override { return arrivals_.descriptor.get(); }
  void arm() override {
    has_rung_ = false;
    arrivals_.arm();
  }
  [[nodiscard]] int completion_descriptor() const noexcept override {
    return ends_.descriptor.get();
  }
  void arm_completions() override { ends_.arm(); }
  [[nodiscard]] int event_descriptor() const noexcept override { return happenings_fd_[0]; }
  [[nodiscard]] bool next_event(verbs::Event& event) override {
    if (happenings_.empty()) return false;
    event = happenings_.front();
    happenings_.pop_front();
    char byte = 0;
    return ::read(happenings_fd_[0], &byte, 1) == 1;
  }

  /// Lets something happen.
  void happen(const verbs::Event& event) {
    happenings_.push_back(event);
    if (::write(happenings_fd_[1], "", 1) != 1) std::abort();
  }
  void open_events() {
    if (::pipe2(happenings_fd_, O_CLOEXEC | O_NONBLOCK) != 0) std::abort();
    if (wires_.habits.calls) arrivals_.open();
    if (wires_.habits.calls && has_two_queues()) ends_.open();
  }
  void close_events() {
    ::close(happenings_fd_[0]);
    ::close(happenings_fd_[1]);
  }
  [[nodiscard]] const std::set<QueueStandIn*>& queues() const { return own_; }
  /// Whether a completion waits to be read: it would have ended a sleep.
  [[nodiscard]] bool has_events() const { return !came_.empty() || !ended_.empty(); }
  /// Whether one has come since `arm`: no other need end a sleep.
  [[nodiscard]] bool has_rung() const { return has_rung_; }
  [[nodiscard]] std::size_t regions() const { return regions_.size(); }

 private:
  friend class QueueStandIn;
  struct Region {
    std::span<std::byte> memory;
    Access access = Access::local;
    std::uint64_t rkey = 0;
    [[nodiscard]] bool holds(std::uint64_t address, std::uint64_t bytes) const {
      const std::uint64_t begin = reinterpret_cast<std::uintptr_t>(memory.data());
      return address >= begin && bytes <= memory.size() && address - begin <= memory.size() - bytes;
    }
  };
  [[nodiscard]] bool has_two_queues() const {
    return wires_.habits.completion_queues == verbs::CompletionQueues::two;
  }
  /// A message that came, or the end of an own order.
  void note(const verbs::Completion& completion) {
    const bool is_own = completion.kind == verbs::Completion::Kind::sent ||
                        completion.kind == verbs::Completion::Kind::failed;
    const bool is_apart = is_own && has_two_queues();
    (is_apart ? ended_ : came_).push_back(completion);
    (is_apart ? ends_ : arrivals_).call();
    has_rung_ = true;
  }
  /// Much may happen between polls of two queues.
  std::size_t read_from(std::deque<verbs::Completion>& queue,
                        std::span<verbs::Completion> completions) {
    wires_.turn();
    if (queue.size() > traits_.receive_depth + traits_.completion_depth) std::abort();
    std::size_t count = 0;
    while (count < completions.size() && !queue.empty()) {
      completions[count++] = queue.front();
      queue.pop_front();
    }
    return count;
  }
  /// The region that has this own key and these bytes.
  const Region& check_registered(std::span<const std::byte> memory, std::uint32_t key) const {
    const auto found = regions_.find(key);
    if (found == regions_.end()) std::abort();
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    if (!found->second.holds(address, memory.size())) std::abort();
    return found->second;
  }
  /// Memory for a peer; null where it is not open for that.
  [[nodiscard]] std::byte* opened_at(const RemoteAddress& place, std::uint64_t bytes,
                                     Access access) {
    for (const auto& [number, region] : regions_) {
      if (region.rkey != place.key) continue;
      const bool any = region.access == Access::peers_change;
      if (!any && region.access != access) continue;
      if (region.holds(place.address, bytes)) return reinterpret_cast<std::byte*>(place.address);
    }
    return nullptr;
  }
  [[nodiscard]] bool has_buffers() const { return !buffers_.empty(); }
  /// A message goes into a buffer.
  void deliver(const std::vector<std::byte>& message, std::uint32_t queue) {
    const verbs::ReceiveWorkRequest buffer = buffers_.front();
    buffers_.pop_front();
    if (message.size() > buffer.memory.size()) std::abort();
    if (!message.empty()) std::memcpy(buffer.memory.data(), message.data(), message.size());
    verbs::Completion completion;
    completion.kind = verbs::Completion::Kind::received;
    completion.id = buffer.id;
    completion.queue = queue;
    completion.bytes = message.size();
    note(completion);
  }
  /// A buffer is used up by a write with immediate data.
  void tell(std::uint32_t word, std::size_t bytes, std::uint32_t queue) {
    verbs::Completion completion;
    completion.kind = verbs::Completion::Kind::immediate;
    completion.id = buffers_.front().id;
    completion.queue = queue;
    completion.bytes = bytes;
    completion.word = word;
    buffers_.pop_front();
    note(completion);
  }
  /// Notifies once after it was armed, as a completion channel does.
  struct Caller {
    base::UniqueFd descriptor;
    bool is_armed = false;

    void open() {
      descriptor.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
      if (!descriptor.valid()) std::abort();
    }
    void arm() {
      std::uint64_t calls = 0;
      if (!descriptor.valid()) return;
      (void)!::read(descriptor.get(), &calls, sizeof calls);
      is_armed = true;
    }
    void call() {
      const std::uint64_t one = 1;
      if (!std::exchange(is_armed, false)) return;
      if (::write(descriptor.get(), &one, sizeof one) != sizeof one) std::abort();
    }
  };

  VerbsWires& wires_;
  verbs::Traits traits_;
  bool started_ = false;
  std::size_t registered_ = 0;
  std::uint32_t next_key_ = 1;
  std::map<std::uint32_t, Region> regions_;  ///< by own key
  std::deque<verbs::ReceiveWorkRequest> buffers_;
  std::deque<verbs::Completion> came_;   ///< of one queue, everything
  std::deque<verbs::Completion> ended_;  ///< of two: of own orders
  verbs::TwoQueues both_;
  bool has_rung_ = false;
  Caller arrivals_;
  Caller ends_;
  std::deque<verbs::Event> happenings_;
  std::set<QueueStandIn*> own_;
  int happenings_fd_[2] = {-1, -1};
};

}  // namespace fulmar::fabric

#include "provider/verbs_standin_queue.h"
