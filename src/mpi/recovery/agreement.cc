// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/recovery/agreement.h"

#include <algorithm>
#include <utility>

namespace fulmar::mpi {
namespace {

constexpr auto nobody_is_out = [](std::uint32_t) { return false; };

AgreementReport value_report(const AgreedValue& value, AgreementState state) {
  AgreementReport report;
  report.state = state;
  report.value = value;
  return report;
}

}  // namespace

void AgreementReport::add(const AgreementReport& other) {
  oldest_open = std::min(oldest_open, other.oldest_open);
  if (other.state != state || (state == AgreementState::locked && other.ballot != ballot)) {
    const bool newer = other.state > state || (other.state == state && other.ballot > ballot);
    if (!newer) return;
    const std::uint32_t oldest = oldest_open;
    *this = other;
    oldest_open = oldest;
    return;
  }
  if (state != AgreementState::votes) return;
  for (std::size_t side = 0; side < value.flags.size(); ++side) {
    value.flags[side] &= other.value.flags[side];
  }
  value.failed.add(other.value.failed);
  acks_differ = acks_differ || other.acks_differ || acknowledged != other.acknowledged;
}

std::uint32_t Agreement::lowest() const {
  std::uint32_t rank = 0;
  while (rank < self_ && port_.is_out(rank)) ++rank;
  return rank;
}

AgreementReport Agreement::own_report() const {
  AgreementReport report;
  if (decided_) {
    report = value_report(value_, AgreementState::decided);
  } else if (lock_) {
    report = *lock_;
  } else {
    report.value.flags = flags_;
    report.value.failed = port_.failed();
    report.acknowledged = acknowledged_.digest();
  }
  report.oldest_open = port_.oldest_open();
  return report;
}

void Agreement::enter(const std::array<std::int32_t, 2>& flags, const RankSet& acknowledged) {
  entered_ = true;
  flags_ = flags;
  acknowledged_ = acknowledged;
  if (decided_) return;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (!tasks_[i].begun) begin(tasks_[i], Sent::by_us);
  }
  const std::uint32_t coordinator = lowest();
  if (coordinator == self_) {
    if (!coordinating_) coordinate(AgreementPhase::collect, {});
  } else if (coordinator == 0 && promised_ == 0) {
    enter_first_wave();
  }
  for (const Answer& answer : std::exchange(early_, {})) {
    (void)on_answer(answer.from, answer.message);
  }
  finish_tasks();
}

/// As if its message had come from the parent.
void Agreement::enter_first_wave() {
  const TreePlace place = place_in_tree(0, self_, size_, nobody_is_out);
  Task task;
  task.message.end = place.end;
  task.parent = place.parent;
  tasks_.push_back(std::move(task));
  begin(tasks_.back(), Sent::by_itself);
}

/// Starts a wave as the coordinator.
void Agreement::coordinate(AgreementPhase phase, AgreementReport report) {
  coordinating_ = true;
  AgreementMessage message;
  message.phase = phase;
  message.coordinator = self_;
  message.end = size_;
  message.report = std::move(report);
  take_task(message, self_);
}

void Agreement::receive(std::uint32_t from, const AgreementMessage& message) {
  if (from >= size_ || from == self_ || message.end > size_) return;
  if (message.phase == AgreementPhase::ask) {
    if (from > self_ && message.end > from) on_ask(from, message.end);
  } else if (!message.down) {
    const bool found = on_answer(from, message) == Found::yes;
    if (!found && !entered_ && early_.size() < size_) early_.push_back({from, message});
  } else if (message.end > self_ && message.coordinator < size_) {
    take_task(message, from);
  }
  finish_tasks();
}

void Agreement::take_task(const AgreementMessage& message, std::uint32_t parent) {
  if (message.phase == AgreementPhase::decide) {
    decide(message.report);
  } else {
    // A lower coordinator has failed, too.
    if (message.coordinator < promised_ || port_.is_out(message.coordinator)) return;
    promised_ = message.coordinator;
    if (message.phase == AgreementPhase::lock && !decided_) {
      lock_ = value_report(message.report.value, AgreementState::locked);
      lock_->ballot = message.coordinator;
    }
  }
  Task task;
  task.message = message;
  task.parent = parent;
  tasks_.push_back(std::move(task));
  const bool waits = message.phase == AgreementPhase::collect && !entered_ && !decided_;
  const bool first = message.phase == AgreementPhase::collect && parent == self_ && self_ == 0;
  if (!waits) begin(tasks_.back(), first ? Sent::by_itself : Sent::by_us);
}

/// Cuts the range, and gives the parts to children.
void Agreement::begin(Task& task, Sent sent) {
  task.begun = true;
  if (task.message.phase == AgreementPhase::collect) task.report = own_report();
  std::uint32_t end = task.message.end;
  while (end - self_ > 1) {
    const std::uint32_t middle = cut_of(self_, end);
    task.children.push_back({middle, end, false});
    hand_on(task, task.children.back(), sent);
    end = middle;
  }
}

/// Gives a range to its first rank that is not out, if there is one; `by_itself`: that rank takes
/// it without a message if it is the first of all.
void Agreement::hand_on(Task& task, Child& child, Sent sent) {
  const std::uint32_t first = child.rank;
  while (child.rank < child.end && port_.is_out(child.rank)) ++child.rank;
  if (child.rank == child.end) {
    child.answered = true;
    return;
  }
  if (sent == Sent::by_itself && child.rank == first) return;
  AgreementMessage message = task.message;
  message.down = true;
  message.end = child.end;
  port_.send(child.rank, message);
}

Agreement::Found Agreement::on_answer(std::uint32_t from, const AgreementMessage& message) {
  for (Task& task : tasks_) {
    if (!task.begun || task.message.phase != message.phase ||
        task.message.coordinator != message.coordinator) {
      continue;
    }
    for (Child& child : task.children) {
      if (child.rank != from || child.end != message.end || child.answered) continue;
      child.answered = true;
      if (message.phase == AgreementPhase::collect) task.report.add(message.report);
      return Found::yes;
    }
  }
  return Found::no;
}

void Agreement::on_ask(std::uint32_t from, std::uint32_t end) {
  if (!decided_) {
    questions_.push_back({from, end});
    return;
  }
  AgreementMessage message;
  message.phase = AgreementPhase::decide;
  message.down = true;
  message.coordinator = self_;
  message.end = end;
  message.report = value_report(value_, AgreementState::decided);
  message.report.oldest_open = 0;
  port_.send(from, message);
}

/// Ends the tasks that every child has answered. That may start another wave, which may end at
/// once.
void Agreement::finish_tasks() {
  if (std::exchange(finishing_, true)) return;
  const auto is_done = [](const Task& task) {
    return task.begun && std::all_of(task.children.begin(), task.children.end(),
                                     [](const Child& child) { return child.answered; });
  };
  for (auto at = std::find_if(tasks_.begin(), tasks_.end(), is_done); at != tasks_.end();
       at = std::find_if(tasks_.begin(), tasks_.end(), is_done)) {
    Task task = std::move(*at);
    tasks_.erase(at);
    finish(std::move(task));
  }
  finishing_ = false;
}

void Agreement::finish(Task task) {
  if (task.message.phase == AgreementPhase::collect && task.report.state == AgreementState::votes) {
    task.report.value.failed.add(port_.failed());
  }
  if (task.parent == self_) return end_wave(task);
  if (port_.is_out(task.parent)) return;
  AgreementMessage answer = task.message;
  answer.down = false;
  answer.report = std::move(task.report);
  port_.send(task.parent, answer);
}

/// The coordinator has the answers of all members.
void Agreement::end_wave(const Task& task) {
  if (task.message.phase == AgreementPhase::collect) {
    AgreementReport next = task.report;
    if (next.state == AgreementState::votes) {
      next.value.unacknowledged =
          next.acks_differ || next.acknowledged != next.value.failed.digest();
    }
    const bool known = next.state == AgreementState::decided;
    coordinate(known ? AgreementPhase::decide : AgreementPhase::lock, std::move(next));
  } else if (task.message.phase == AgreementPhase::lock) {
    coordinate(AgreementPhase::decide, task.message.report);
  }
}

void Agreement::decide(const AgreementReport& report) {
  if (!decided_) {
    decided_ = true;
    value_ = report.value;
    lock_.reset();
    for (const Question& question : std::exchange(questions_, {})) {
      on_ask(question.from, question.end);
    }
  }
  port_.all_decided_below(report.oldest_open == UINT32_MAX ? 0 : report.oldest_open);
}

void Agreement::member_out() {
  drop_tasks();
  for (Task& task : tasks_) {
    for (Child& child : task.children) {
      if (!child.answered && port_.is_out(child.rank)) hand_on(task, child, Sent::by_us);
    }
  }
  if (entered_ && !decided_) {
    if (lowest() != self_) {
      ask_parent();
    } else if (!coordinating_) {
      coordinate(AgreementPhase::collect, {});
    }
  }
  finish_tasks();
}

/// Ends waves whose coordinator is out. Those that decide continue: the value stays valid.
void Agreement::drop_tasks() {
  std::erase_if(tasks_, [this](const Task& task) {
    if (task.message.phase == AgreementPhase::decide) return false;
    return task.parent != self_ &&
           (port_.is_out(task.message.coordinator) || port_.is_out(task.parent));
  });
}

/// Once rank 0 is out, the others may have decided and left.
void Agreement::ask_parent() {
  const std::uint32_t root = lowest();
  if (root == 0) return;
  const TreePlace place = place_in_tree(
      root, self_, size_, [this](std::uint32_t member) { return port_.is_out(member); });
  if (asked_ && asked_->from == place.parent && asked_->end == place.end) return;
  asked_ = Question{place.parent, place.end};
  AgreementMessage message;
  message.phase = AgreementPhase::ask;
  message.end = place.end;
  port_.send(place.parent, message);
}

}  // namespace fulmar::mpi
