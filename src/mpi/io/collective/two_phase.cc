// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/collective/two_phase.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "mpi/coll/engine/scratch.h"
#include "mpi/errhandler/raise.h"
#include "mpi/io/view/memory_side.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

constexpr std::size_t header_words = 56;

/// What a rank has, or wants, in a window, and its runs (RunList). A longer list follows whole.
struct Header {
  std::int64_t bytes = 0;
  std::int64_t word_count = 0;
  std::array<RunList::Word, header_words> words{};
};

/// What an aggregator has read for a rank; then the bytes follow.
struct Answer {
  std::int64_t bytes = 0;
  std::int32_t failed = 0;
  std::int32_t unused = 0;
};

/// This rank's part of a window of an aggregator.
struct Wanted {
  int rank;
  Count position;
  Count bytes;
  Header header;
  RunList runs;
  Answer answer;
  MovedBytes memory;
};

/// A rank's part of the window of this aggregator.
struct Served {
  int rank;
  Header header;
  std::vector<RunList::Word> words;  ///< that come in a message of their own
  RunList runs;
  Answer answer;
  std::unique_ptr<std::byte[]> copy;
  std::byte* data = nullptr;  ///< of all runs, one behind the other
};

/// One window of each aggregator.
struct Round {
  std::vector<Wanted> wanted;
  std::vector<Served> served;
  WindowJob::Ref job;  ///< null: this rank is no aggregator
  Extent window{0, 0};
};

class TwoPhase {
 public:
  TwoPhase(CollContext& exchange, CollectiveAccess& call, std::span<const RankPart> parts)
      : exchange_(exchange),
        call_(call),
        parts_(parts),
        plan_(parts, call.course, call.file->open->aggregators),
        memory_(call.access, call.direction == Direction::write) {
    for (int i = 0; i < plan_.aggregators; ++i) {
      aggregators_.push_back(call.file->open->aggregator_ranks[static_cast<std::size_t>(i)]);
      if (aggregators_.back() == exchange.rank()) own_index_ = i;
    }
    if (memory_.failed()) no_memory(call.access.bytes);
  }

  [[nodiscard]] Count rounds() const noexcept { return plan_.rounds; }
  [[nodiscard]] bool reads() const noexcept { return call_.direction == Direction::read; }
  [[nodiscard]] MemorySide& memory() noexcept { return memory_; }

  void prepare(Round& round, Count number);
  static CollTask exchange_headers(CollContext& exchange, TwoPhase& self, Round& round);
  static CollTask collect(CollContext& exchange, TwoPhase& self, Round& round);
  static CollTask deliver(CollContext& exchange, TwoPhase& self, Round& round);
  void start_operation(Round& round) noexcept;
  void take_error(const Round& round) noexcept;
  void finish() noexcept;

 private:
  [[nodiscard]] bool takes_part(int rank, Extent window) const noexcept {
    const RankPart& part = parts_[static_cast<std::size_t>(rank)];
    return part.bytes != 0 && part.first < window.end && part.end > window.first;
  }
  [[nodiscard]] WindowJob::Locking locking() const noexcept {
    return call_.course.sieves ? WindowJob::Locking::of_writes : WindowJob::Locking::none;
  }
  void want(Round& round, int aggregator, Extent window);
  [[nodiscard]] bool is_right(const Served& served, Extent window) const noexcept;
  void refuse(const Served& served, Extent window);
  void add_extents(Round& round, const RunList& runs);
  void gather(Round& round, Served& served);
  void scatter(Round& round, const Served& served) noexcept;
  [[nodiscard]] std::byte* room_for(Served& served, Count bytes);
  void no_memory(Count bytes) noexcept {
    exchange_.note(base::failure(ErrorClass::no_mem, "no memory for %lld bytes of a file",
                                 static_cast<long long>(bytes)));
  }
  [[nodiscard]] Data bytes(void* address, std::size_t count) const noexcept {
    return {address, static_cast<Count>(count), &exchange_.byte_type()};
  }

  CollContext& exchange_;
  CollectiveAccess& call_;
  std::span<const RankPart> parts_;
  TwoPhasePlan plan_;
  MemorySide memory_;
  std::vector<int> aggregators_;
  int own_index_ = -1;
  Count short_at_ = std::numeric_limits<Count>::max();  ///< of a read: where the data end
};

void TwoPhase::want(Round& round, int aggregator, Extent window) {
  const Access& access = call_.access;
  const Count end = access.position + access.bytes;
  const Count from = std::clamp(access.view->position_at(window.first), access.position, end);
  const Count to = std::clamp(access.view->position_at(window.end), from, end);
  Wanted& wanted = round.wanted.emplace_back();
  wanted.rank = aggregators_[static_cast<std::size_t>(aggregator)];
  wanted.position = from;
  wanted.bytes = to - from;
  wanted.runs = RunList(*access.view, from, to - from, window);
  wanted.header.bytes = wanted.bytes;
  const auto words = wanted.runs.words();
  wanted.header.word_count = static_cast<std::int64_t>(words.size());
  std::copy_n(words.begin(), std::min(words.size(), header_words), wanted.header.words.begin());
}

void TwoPhase::prepare(Round& round, Count number) {
  round.wanted.clear();
  round.served.clear();
  for (int i = 0; i < plan_.aggregators; ++i) {
    const Extent window = plan_.window(i, number);
    if (takes_part(exchange_.rank(), window)) want(round, i, window);
  }
  if (own_index_ < 0) return;
  round.window = plan_.window(own_index_, number);
  if (round.job == nullptr) round.job = WindowJob::make(*call_.file, call_.direction, locking());
  if (round.job == nullptr || !round.job->place(round.window)) {
    return no_memory(round.window.end - round.window.first);
  }
  round.job->extents.clear();
  for (int rank = 0; rank < exchange_.size(); ++rank) {
    if (takes_part(rank, round.window)) round.served.emplace_back().rank = rank;
  }
}

/// Before any memory is taken for a list.
bool TwoPhase::is_right(const Served& served, Extent window) const noexcept {
  const Header& header = served.header;
  return header.bytes >= 0 && header.bytes <= window.end - window.first && header.word_count >= 0 &&
         header.word_count <= RunList::most_words(window, header.bytes);
}

/// Data from other ranks are not trusted. Invalid ones end the call.
void TwoPhase::refuse(const Served& served, Extent window) {
  end_job(*exchange_.comm().library, "a collective file operation", exchange_.comm(),
          base::failure(ErrorClass::intern,
                        "rank %d describes data outside the window %lld to %lld", served.rank,
                        static_cast<long long>(window.first), static_cast<long long>(window.end)));
}

CollTask TwoPhase::exchange_headers(CollContext& exchange, TwoPhase& self, Round& round) {
  Transfers messages(exchange, static_cast<int>(round.wanted.size() + round.served.size()));
  for (Served& served : round.served) {
    messages.receive(self.bytes(&served.header, sizeof served.header), served.rank);
  }
  for (Wanted& wanted : round.wanted) {
    messages.send(as_const(self.bytes(&wanted.header, sizeof wanted.header)), wanted.rank);
  }
  co_await messages.wait();
  if (exchange.result().failed()) co_return;
  for (Served& served : round.served) {
    if (!self.is_right(served, round.window)) {
      self.refuse(served, round.window);
      co_return;
    }
    served.words.resize(static_cast<std::size_t>(served.header.word_count));
    if (served.words.size() <= header_words) {
      std::copy_n(served.header.words.begin(), served.words.size(), served.words.begin());
    } else {
      messages.receive(self.bytes(served.words.data(), served.words.size() * sizeof(RunList::Word)),
                       served.rank);
    }
  }
  for (Wanted& wanted : round.wanted) {
    const auto words = wanted.runs.words();
    if (words.size() <= header_words) continue;
    void* list = const_cast<RunList::Word*>(words.data());
    messages.send(as_const(self.bytes(list, words.size_bytes())), wanted.rank);
  }
  co_await messages.wait();
  if (exchange.result().failed()) co_return;
  for (Served& served : round.served) {
    served.runs = RunList(std::move(served.words));
    if (!served.runs.is_valid(round.window, served.header.bytes)) {
      self.refuse(served, round.window);
      co_return;
    }
    self.add_extents(round, served.runs);
  }
  if (round.job != nullptr) merge(round.job->extents);
}

void TwoPhase::add_extents(Round& round, const RunList& runs) {
  runs.for_each(round.window, [&](const FileRun& run) {
    const bool solid = run.stride == run.length;
    const std::int64_t pieces = solid ? 1 : run.count;
    const std::int64_t length = solid ? run.length * run.count : run.length;
    for (std::int64_t i = 0; i < pieces; ++i) {
      const Count first = run.offset + i * run.stride;
      round.job->extents.push_back({first, first + length});
    }
    return true;
  });
  // Interleaved pieces of ranks are joined before those of the next rank are added.
  constexpr std::size_t many = 65536;
  if (round.job->extents.size() > many) merge(round.job->extents);
}

/// Memory for the data of a rank: the window itself where they are one piece there.
std::byte* TwoPhase::room_for(Served& served, Count bytes) {
  served.copy.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]);
  if (served.copy == nullptr) no_memory(bytes);
  return served.copy.get();
}

/// Puts the data of a rank into the window.
void TwoPhase::scatter(Round& round, const Served& served) noexcept {
  const std::byte* from = served.data;
  served.runs.for_each(round.window, [&](const FileRun& run) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      std::memcpy(round.job->memory_at(run.offset + i * run.stride), from,
                  static_cast<std::size_t>(run.length));
      from += run.length;
    }
    return true;
  });
}

/// Takes the data of a rank from the window, as far as the file goes.
void TwoPhase::gather(Round& round, Served& served) {
  const WindowJob& job = *round.job;
  served.answer.failed = job.error().failed() ? 1 : 0;
  served.answer.bytes = 0;
  if (served.answer.failed != 0 || served.header.bytes == 0) return;
  const bool direct = served.runs.is_one_piece();
  served.data = direct ? job.memory_at(served.runs.first(round.window))
                       : room_for(served, served.header.bytes);
  if (served.data == nullptr) return;
  served.runs.for_each(round.window, [&](const FileRun& run) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      const Count first = run.offset + i * run.stride;
      const Count there = std::clamp<Count>(job.valid_end() - first, 0, run.length);
      if (!direct) {
        std::memcpy(served.data + served.answer.bytes, job.memory_at(first),
                    static_cast<std::size_t>(there));
      }
      served.answer.bytes += there;
      if (there < run.length) return false;
    }
    return true;
  });
}

/// A write: the data of the ranks come into the windows.
CollTask TwoPhase::collect(CollContext& exchange, TwoPhase& self, Round& round) {
  Transfers messages(exchange, static_cast<int>(round.wanted.size() + round.served.size()));
  for (Served& served : round.served) {
    if (served.header.bytes == 0) continue;
    served.data = served.runs.is_one_piece() && round.served.size() == 1
                      ? round.job->memory_at(served.runs.first(round.window))
                      : self.room_for(served, served.header.bytes);
    messages.receive(self.bytes(served.data, static_cast<std::size_t>(served.header.bytes)),
                     served.rank);
  }
  for (Wanted& wanted : round.wanted) {
    if (wanted.bytes == 0) continue;
    wanted.memory = self.memory_.to_send(wanted.position, wanted.bytes);
    if (wanted.memory.failed()) self.no_memory(wanted.bytes);
    messages.send(
        as_const(self.bytes(wanted.memory.data(), static_cast<std::size_t>(wanted.bytes))),
        wanted.rank);
  }
  co_await messages.wait();
  for (const Served& served : round.served) {
    if (served.copy != nullptr) self.scatter(round, served);
  }
}

/// A read: the data in the windows go to the ranks.
CollTask TwoPhase::deliver(CollContext& exchange, TwoPhase& self, Round& round) {
  Transfers messages(exchange, static_cast<int>(round.wanted.size() + round.served.size()));
  for (Wanted& wanted : round.wanted) {
    messages.receive(self.bytes(&wanted.answer, sizeof wanted.answer), wanted.rank);
  }
  for (Served& served : round.served) {
    self.gather(round, served);
    messages.send(as_const(self.bytes(&served.answer, sizeof served.answer)), served.rank);
  }
  co_await messages.wait();
  for (Wanted& wanted : round.wanted) {
    const Count there = std::clamp<Count>(wanted.answer.bytes, 0, wanted.bytes);
    if (there < wanted.bytes) self.short_at_ = std::min(self.short_at_, wanted.position + there);
    wanted.answer.bytes = there;
    if (there == 0) continue;
    wanted.memory = self.memory_.to_receive(wanted.position, there);
    if (wanted.memory.failed()) self.no_memory(there);
    messages.receive(self.bytes(wanted.memory.data(), static_cast<std::size_t>(there)),
                     wanted.rank);
  }
  for (Served& served : round.served) {
    if (served.answer.bytes == 0) continue;
    messages.send(as_const(self.bytes(served.data, static_cast<std::size_t>(served.answer.bytes))),
                  served.rank);
  }
  co_await messages.wait();
  for (const Wanted& wanted : round.wanted) {
    if (wanted.answer.bytes != 0) {
      self.memory_.received(wanted.position, wanted.answer.bytes, wanted.memory);
    }
  }
}

/// On another thread, unless nothing could go on meanwhile.
void TwoPhase::start_operation(Round& round) noexcept {
  if (round.job == nullptr) return;
  if (plan_.rounds == 1 && call_.in_place) {
    round.job->run_here();
  } else {
    round.job->start();
  }
}

void TwoPhase::take_error(const Round& round) noexcept {
  if (round.job != nullptr && call_.error.ok()) call_.error = round.job->error();
}

void TwoPhase::finish() noexcept {
  const Access& access = call_.access;
  if (!reads()) {
    call_.moved = access.memory.count * access.memory.type->size;
    return;
  }
  const Count there = std::min(short_at_ - access.position, access.bytes);
  const Error error = memory_.finish(there, call_.moved);
  if (call_.error.ok()) call_.error = error;
}

}  // namespace

CollTask move_in_two_phases(CollContext& exchange, CollectiveAccess& call,
                            std::span<const RankPart> parts) {
  TwoPhase work(exchange, call, parts);
  if (work.memory().error().failed()) call.error = work.memory().error();
  std::array<Round, 2> rounds;
  for (Count number = 0; number < work.rounds(); ++number) {
    Round& round = rounds[static_cast<std::size_t>(number % 2)];
    Round& before = rounds[static_cast<std::size_t>((number + 1) % 2)];
    if (round.job != nullptr) co_await round.job->wait(exchange);
    work.take_error(round);
    work.prepare(round, number);
    co_await TwoPhase::exchange_headers(exchange, work, round);
    if (exchange.result().failed()) co_return;
    if (!work.reads()) co_await TwoPhase::collect(exchange, work, round);
    if (exchange.result().failed()) co_return;
    work.start_operation(round);
    if (!work.reads()) continue;
    if (number > 0) co_await TwoPhase::deliver(exchange, work, before);
    if (round.job != nullptr) co_await round.job->wait(exchange);
    work.take_error(round);
  }
  if (work.reads() && work.rounds() > 0) {
    co_await TwoPhase::deliver(exchange, work,
                               rounds[static_cast<std::size_t>((work.rounds() - 1) % 2)]);
  }
  for (Round& round : rounds) {
    if (round.job != nullptr) co_await round.job->wait(exchange);
    work.take_error(round);
  }
  work.finish();
}

}  // namespace fulmar::mpi
