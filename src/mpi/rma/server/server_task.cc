// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/server/server_task.h"

#include <cstring>
#include <utility>

#include "mpi/datatype/view.h"
#include "mpi/rma/access_record.h"
#include "mpi/rma/range.h"
#include "mpi/rma/server/accumulate.h"
#include "mpi/rma/server/type_description.h"

namespace fulmar::mpi {

using base::ErrorClass;
using wire::RmaCall;

namespace {

/// Longer descriptions of datatypes are refused.
constexpr std::uint32_t most_type_words = 1U << 24;

/// A message that carries a copy of its bytes and ends itself.
struct Answer : RmaMessage {
  std::vector<std::byte> bytes;
};

}  // namespace

void RmaServer::Task::answer(Win& win, int rank, std::uint32_t tag,
                             std::span<const std::byte> bytes) {
  auto* message = new Answer;
  message->bytes.assign(bytes.begin(), bytes.end());
  message->set_bytes(message->bytes);
  message->ended = [](RmaMessage& done) noexcept { delete &static_cast<Answer&>(done); };
  message->start_send(win, rank, tag & static_cast<std::uint32_t>(largest_tag), RmaLine::answers);
}

void RmaServer::Task::start(Win& win, Origin& origin, const wire::RmaHeader& header,
                            std::span<const std::byte> request) {
  auto* task = new Task(win, origin, header);
  ++origin.tasks;
  task->header_.tag &= static_cast<std::uint32_t>(largest_tag);
  const bool is_kept = task->has(wire::rma_kept_type);
  if (!is_kept && task->has(wire::rma_long_type)) return task->await_description();
  const std::uint32_t words = is_kept ? 0 : header.type_words;
  const std::uint64_t words_bytes = std::uint64_t{words} * sizeof(std::int64_t);
  if (is_kept) {
    task->use_kept_type();
  } else if (words_bytes > request.size() - sizeof header) {
    task->fail(ErrorClass::intern);
  } else {
    task->use_description(request.subspan(sizeof header, words_bytes));
  }
  task->find_place();
  if (!task->has(wire::rma_inline)) return task->go_on({});
  const std::size_t offset = task->failed_ ? 0 : rma_data_offset(words);
  if (offset > request.size() || header.bytes > request.size() - offset) {
    task->fail(ErrorClass::intern);
    return task->execute({});
  }
  task->execute(request.subspan(offset, header.bytes));
}

/// The description of the datatype comes in a message of its own.
void RmaServer::Task::await_description() {
  block();
  if (header_.type_words > most_type_words) {
    fail(ErrorClass::type);
  } else {
    words_.resize(header_.type_words);
  }
  message_.set_bytes(std::as_bytes(std::span(words_)));
  message_.owner = this;
  message_.ended = [](RmaMessage& done) noexcept {
    auto& task = *static_cast<Task*>(done.owner);
    const std::size_t bytes = task.words_.size() * sizeof(std::int64_t);
    if (done.outcome.error != ErrorClass::success || done.outcome.bytes != bytes) {
      task.fail(done.outcome.error == ErrorClass::success ? ErrorClass::type : done.outcome.error);
    } else {
      task.use_description(std::as_bytes(std::span(task.words_)));
    }
    task.find_place();
    task.go_on({});
  };
  message_.start_receive(win_, origin_.rank, header_.tag, RmaLine::data);
}

void RmaServer::Task::use_description(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  std::vector<std::int64_t> words(bytes.size() / sizeof(std::int64_t));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  auto type = described_type(*win_.library, words);
  if (type.failed()) return fail(type.error().error_class());
  described_ = std::move(*type);
  type_ = described_.get();
  if (!has(wire::rma_keep_type)) return;
  if (header_.slot >= origin_.kept_types.size() || words.size() > wire::most_kept_type_words) {
    return fail(ErrorClass::type);
  }
  origin_.kept_types[header_.slot] = described_;
}

/// The one that this origin has described before. Another one may take its slot while this request
/// goes on.
void RmaServer::Task::use_kept_type() {
  if (header_.slot >= origin_.kept_types.size() || origin_.kept_types[header_.slot] == nullptr) {
    return fail(ErrorClass::type);
  }
  described_ = origin_.kept_types[header_.slot];
  type_ = described_.get();
}

void RmaServer::Task::find_place() {
  if (failed_) return;
  if (type_ == nullptr) type_ = predefined_type(*win_.library, header_.type);
  ErrorClass error = check_place();
  if (error == ErrorClass::success) error = check_operation();
  if (win_.watch.check != nullptr) record_access(error);
  if (error != ErrorClass::success) fail(error);
}

/// With FULMAR_CHECK=rma: an operation that conflicts is carried out, and told with the next answer;
/// of one that is refused the answer says which one it was.
void RmaServer::Task::record_access(ErrorClass error) {
  const wire::RmaAccess access = access_of(header_, origin_.rank);
  if (error == ErrorClass::success) {
    const auto found = win_.watch.check->record.add(access, header_.place, header_.count, *type_);
    if (!found || origin_.error != ErrorClass::success) return;
    origin_.fail(ErrorClass::rma_conflict);
    origin_.conflict = *found;
  } else if (type_ != nullptr && origin_.error == ErrorClass::success) {
    wire::RmaConflict refused{access, {}};
    const auto range = touched_bytes(header_.place, header_.count, *type_);
    if (range) refused.later.begin = range->begin;
    if (range) refused.later.end = range->end;
    origin_.conflict = refused;
    origin_.fail(error);
  }
}

ErrorClass RmaServer::Task::check_place() {
  if (type_ == nullptr) return ErrorClass::type;
  if (header_.count < 0) return ErrorClass::count;
  const RmaTarget& self = win_.target(win_.rank());
  if (!is_in_window(win_, self, header_.place, header_.count, *type_)) {
    return ErrorClass::rma_range;
  }
  std::int64_t room = 0;
  if (__builtin_mul_overflow(header_.count, type_->size, &room)) return ErrorClass::rma_range;
  // Only what is read may overlap (12.3.4). Without this a header of a few bytes makes the target
  // allocate what it likes.
  const auto range = touched_bytes(header_.place, header_.count, *type_);
  const bool overlaps = !range || room > range->end - range->begin;
  if (overlaps && call() != RmaCall::get) return ErrorClass::rma_range;
  const bool swaps = call() == RmaCall::compare_and_swap;
  const auto most = static_cast<std::uint64_t>(room) * (swaps ? 2 : 1);
  if (header_.bytes > most) return ErrorClass::truncate;
  const std::uint64_t base = win_.dynamic() ? 0 : reinterpret_cast<std::uint64_t>(win_.base);
  address_ = reinterpret_cast<void*>(base + static_cast<std::uint64_t>(header_.place));
  return ErrorClass::success;
}

/// What accumulates do, and with which elements.
ErrorClass RmaServer::Task::check_operation() {
  if (call() != RmaCall::accumulate && call() != RmaCall::get_accumulate) return {};
  const Library& library = *win_.library;
  op_ = predefined_op(library, header_.op);
  if (op_ == nullptr) return ErrorClass::op;
  if (header_.element != 0) {
    element_ = named_element(library, header_.element, header_.second);
    if (element_ == nullptr) return ErrorClass::type;
    if (header_.bytes % static_cast<std::uint64_t>(element_->size) != 0) return ErrorClass::type;
  }
  return check_accumulate(*op_, element_).error_class();
}

void RmaServer::Task::go_on(std::span<const std::byte> data) {
  if (brings_data() && !has(wire::rma_inline)) return await_data();
  execute(data);
}

/// The data of a put go where they belong; those of others are kept until all are there, and later
/// requests of the origin wait.
void RmaServer::Task::await_data() {
  message_.~RmaMessage();
  new (&message_) RmaMessage;
  const bool straight = call() == RmaCall::put && !failed_;
  if (straight) {
    message_.set_buffer({address_, header_.count, type_});
  } else {
    if (!failed_) bytes_.resize(header_.bytes);
    block();
    message_.set_bytes(bytes_);
  }
  message_.owner = this;
  message_.ended = [](RmaMessage& done) noexcept {
    auto& task = *static_cast<Task*>(done.owner);
    const bool whole =
        done.outcome.error == ErrorClass::success && done.outcome.bytes == task.header_.bytes;
    if (!whole) {
      task.fail(done.outcome.error == ErrorClass::success ? ErrorClass::intern
                                                          : done.outcome.error);
    }
    if (task.call() == RmaCall::put) return task.finish();
    task.execute(task.bytes_);
  };
  message_.start_receive(win_, origin_.rank, header_.tag, RmaLine::data);
}

void RmaServer::Task::execute(std::span<const std::byte> data) {
  if (failed_) {
    if (wants_data()) answer(win_, origin_.rank, header_.tag, {});
    return finish();
  }
  wire::RmaControl& control = *win_.target(win_.rank()).control;
  const View view(*type_, header_.count);
  switch (call()) {
    case RmaCall::put:
      (void)view.unpack(address_, 0, data);
      return finish();
    case RmaCall::get:
      return send_back({address_, header_.count, type_});
    case RmaCall::accumulate: {
      const AccumulateGuard guard(win_, control);
      accumulate_data(*op_, element_, data, {address_, header_.count, type_});
      break;
    }
    case RmaCall::get_accumulate: {
      std::vector<std::byte> old(view.bytes());
      {
        const AccumulateGuard guard(win_, control);
        (void)view.pack(address_, 0, old);
        accumulate_data(*op_, element_, data, {address_, header_.count, type_});
      }
      answer(win_, origin_.rank, header_.tag, old);
      break;
    }
    default:
      swap(data);
      break;
  }
  finish();
}

/// The compare value, then the new one.
void RmaServer::Task::swap(std::span<const std::byte> data) {
  constexpr std::size_t most_bytes = 16;
  std::byte old[most_bytes];
  const std::size_t bytes = data.size() / 2;
  if (bytes == 0 || bytes > most_bytes || !type_->contiguous || header_.count != 1 ||
      bytes != static_cast<std::size_t>(type_->size)) {
    origin_.fail(ErrorClass::type);
    return answer(win_, origin_.rank, header_.tag, {});
  }
  {
    const AccumulateGuard guard(win_, *win_.target(win_.rank()).control);
    std::memcpy(old, address_, bytes);
    if (std::memcmp(old, data.data(), bytes) == 0) {
      std::memcpy(address_, data.data() + bytes, bytes);
    }
  }
  answer(win_, origin_.rank, header_.tag, std::span(old).first(bytes));
}

/// Sends what the origin wants from where it lies.
void RmaServer::Task::send_back(const ConstData& data) {
  message_.~RmaMessage();
  new (&message_) RmaMessage;
  message_.set_buffer(data);
  message_.owner = this;
  message_.ended = [](RmaMessage& done) noexcept { static_cast<Task*>(done.owner)->finish(); };
  message_.start_send(win_, origin_.rank, header_.tag, RmaLine::answers);
}

void RmaServer::Task::fail(ErrorClass error) noexcept {
  failed_ = true;
  // Answers that should bring data and are empty say it by themselves.
  if (!wants_data()) origin_.fail(error);
}

void RmaServer::Task::finish() noexcept {
  Origin& origin = origin_;
  --origin.tasks;
  if (blocks_) origin.blocked = false;
  delete this;
  origin.server->advance(origin);
}

}  // namespace fulmar::mpi
