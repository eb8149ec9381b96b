// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fabric/verbs/adapter.h"

/// Adapters that stand in for those of libibverbs: they keep the rules that hold for queue pairs,
/// insist that they are used by them, refuse and fail.
namespace fulmar::fabric {

struct VerbsHabits {
  double reluctance = 0;  ///< posts are refused, and reads bring nothing, with this probability
  std::size_t inline_bytes = 220;
  std::size_t receive_depth = 256;
  std::size_t send_depth = 128;
  std::size_t completion_depth = 2048;
  std::size_t most_registered = SIZE_MAX;  ///< bytes; more is refused
  wire::VerbsLink link = wire::VerbsLink::ethernet;
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

  [[nodiscard]] bool refuses() {
    return habits.reluctance > 0 &&
           std::uniform_real_distribution<>(0, 1)(random) < habits.reluctance;
  }
};

class QueueStandIn final : public verbs::Queue {
 public:
  struct Mail {
    std::vector<std::byte> bytes;
    std::uint64_t id;
    bool is_told;
  };
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
  [[nodiscard]] base::Error connect(const wire::VerbsCard& own,
                                    const wire::VerbsCard& theirs) override {
    if (own.queue != number_ || own.first > wire::verbs_number_mask) std::abort();
    peer_ = theirs.queue;
    return {};
  }
  verbs::Taken send(const verbs::SendOrder& order) override;
  [[nodiscard]] std::string last_error() const override { return "the queue is broken"; }

  /// Everything fails from now on.
  void break_down() { broken_ = true; }
  [[nodiscard]] QueueStandIn* other() const {
    const auto found = wires_.queues.find(peer_);
    return found == wires_.queues.end() ? nullptr : found->second;
  }

  std::deque<Mail> mail;  ///< that has come and found no buffer yet

 private:
  friend class VerbsStandIn;
  void told(const Mail& sent, verbs::Completion::Kind kind);

  VerbsWires& wires_;
  VerbsStandIn& adapter_;
  std::uint32_t number_;
  std::uint32_t peer_ = 0;
  std::size_t posted_ = 0;
  std::size_t freed_ = 0;
  std::size_t sent_ = 0;  ///< whose place is free with the next that is told
  bool broken_ = false;
};

class VerbsStandIn final : public verbs::Adapter {
 public:
  VerbsStandIn(VerbsWires& wires, std::uint32_t self) : wires_(wires) {
    traits_.name = "standin" + std::to_string(self) + ":1";
    traits_.gid[15] = static_cast<std::byte>(self + 1);
    traits_.gid[10] = traits_.gid[11] = std::byte{0xff};
    traits_.gid[12] = std::byte{10};
    traits_.link = wires.habits.link;
    traits_.mtu = 3;
    traits_.receive_depth = wires.habits.receive_depth;
    traits_.completion_depth = wires.habits.completion_depth;
    traits_.place = "10.0.0." + std::to_string(self + 1);
  }
  ~VerbsStandIn() override {
    if (!own_.empty()) std::abort();  // a queue outlives its adapter
  }

  [[nodiscard]] const verbs::Traits& traits() const noexcept override { return traits_; }
  [[nodiscard]] base::Result<std::uint32_t> enlist(std::span<std::byte> memory) override {
    if (registered_ + memory.size() > wires_.habits.most_registered) {
      return base::failure(base::ErrorClass::no_mem, "%zu bytes are too many", memory.size());
    }
    registered_ += memory.size();
    regions_.push_back(memory);
    return static_cast<std::uint32_t>(regions_.size());
  }
  [[nodiscard]] base::Result<std::unique_ptr<verbs::Queue>> open_queue() override {
    auto queue = std::make_unique<QueueStandIn>(wires_, *this);
    own_.insert(queue.get());
    return std::unique_ptr<verbs::Queue>(std::move(queue));
  }
  std::size_t receive(std::span<const verbs::ReceiveOrder> orders, std::uint32_t key) override {
    if (std::exchange(started_, true) && wires_.refuses()) return 0;
    std::size_t taken = 0;
    while (taken < orders.size() && buffers_.size() < traits_.receive_depth) {
      check_registered(orders[taken].memory, key);
      buffers_.push_back(orders[taken++]);
    }
    return taken;
  }
  std::size_t read(std::span<verbs::Completion> completions) override {
    if (wires_.refuses()) return 0;
    deliver();
    if (done_.size() > traits_.receive_depth + traits_.completion_depth) std::abort();
    std::size_t count = 0;
    while (count < completions.size() && !done_.empty()) {
      completions[count++] = done_.front();
      done_.pop_front();
    }
    return count;
  }
  [[nodiscard]] std::string text_of(int status) const override {
    return "status " + std::to_string(status);
  }
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  void arm() override {}
  [[nodiscard]] int happening_descriptor() const noexcept override { return happenings_fd_[0]; }
  [[nodiscard]] bool next_happening(verbs::Happening& happening) override {
    if (happenings_.empty()) return false;
    happening = happenings_.front();
    happenings_.pop_front();
    char byte = 0;
    return ::read(happenings_fd_[0], &byte, 1) == 1;
  }

  /// Lets something happen.
  void happen(const verbs::Happening& happening) {
    happenings_.push_back(happening);
    if (::write(happenings_fd_[1], "", 1) != 1) std::abort();
  }
  void open_events() {
    if (::pipe2(happenings_fd_, O_CLOEXEC | O_NONBLOCK) != 0) std::abort();
  }
  void close_events() {
    ::close(happenings_fd_[0]);
    ::close(happenings_fd_[1]);
  }
  [[nodiscard]] const std::set<QueueStandIn*>& queues() const { return own_; }
  [[nodiscard]] std::size_t posted_buffers() const { return buffers_.size(); }
  /// Keeps buffers back, as if others had used them up.
  void take_buffers_away() { buffers_.clear(); }

  void check_registered(std::span<const std::byte> memory, std::uint32_t key) const {
    if (key == 0 || key > regions_.size()) std::abort();
    const auto& region = regions_[key - 1];
    const bool inside = memory.data() >= region.data() &&
                        memory.data() + memory.size() <= region.data() + region.size();
    if (!inside) std::abort();
  }

 private:
  friend class QueueStandIn;
  /// What has come goes into buffers, as long as there are some.
  void deliver() {
    for (QueueStandIn* const queue : own_) {
      while (!queue->mail.empty() && !buffers_.empty()) {
        const QueueStandIn::Mail mail = std::move(queue->mail.front());
        queue->mail.pop_front();
        const verbs::ReceiveOrder buffer = buffers_.front();
        buffers_.pop_front();
        if (mail.bytes.size() > buffer.memory.size()) std::abort();
        if (!mail.bytes.empty()) {
          std::memcpy(buffer.memory.data(), mail.bytes.data(), mail.bytes.size());
        }
        verbs::Completion completion;
        completion.kind = verbs::Completion::Kind::came;
        completion.id = buffer.id;
        completion.queue = queue->number();
        completion.bytes = mail.bytes.size();
        done_.push_back(completion);
        if (QueueStandIn* const from = queue->other(); from != nullptr) {
          from->told(mail, verbs::Completion::Kind::sent);
        }
      }
    }
  }

  VerbsWires& wires_;
  verbs::Traits traits_;
  bool started_ = false;
  std::size_t registered_ = 0;
  std::vector<std::span<std::byte>> regions_;
  std::deque<verbs::ReceiveOrder> buffers_;
  std::deque<verbs::Completion> done_;
  std::deque<verbs::Happening> happenings_;
  std::set<QueueStandIn*> own_;
  int happenings_fd_[2] = {-1, -1};
};

inline QueueStandIn::~QueueStandIn() {
  wires_.queues.erase(number_);
  adapter_.own_.erase(this);
  // What was on the way here is repeated for a while, and fails.
  if (QueueStandIn* const from = other(); from != nullptr) {
    for (const Mail& lost : mail) from->told(lost, verbs::Completion::Kind::failed);
  }
}

inline verbs::Taken QueueStandIn::send(const verbs::SendOrder& order) {
  if (broken_) return verbs::Taken::failed;
  if (wires_.refuses()) return verbs::Taken::later;
  if (posted_ - freed_ >= depth()) std::abort();  // more than the queue takes
  if (order.is_inline) {
    if (order.message.size() > inline_bytes()) std::abort();
  } else {
    adapter_.check_registered(order.message, order.key);
  }
  ++posted_;
  ++wires_.sends;
  Mail sent{{order.message.begin(), order.message.end()}, order.id, order.is_told};
  QueueStandIn* const to = other();
  if (to == nullptr || to->peer_ != number_) {
    told(sent, verbs::Completion::Kind::failed);
  } else {
    to->mail.push_back(std::move(sent));
  }
  return verbs::Taken::yes;
}

inline void QueueStandIn::told(const Mail& sent, verbs::Completion::Kind kind) {
  ++sent_;
  if (!sent.is_told && kind == verbs::Completion::Kind::sent) return;
  freed_ = sent_;
  verbs::Completion completion;
  completion.kind = kind;
  completion.id = sent.id;
  completion.queue = number_;
  completion.status = 12;
  adapter_.done_.push_back(completion);
}

}  // namespace fulmar::fabric
