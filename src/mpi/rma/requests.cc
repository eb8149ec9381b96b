// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/requests.h"

#include <array>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "mpi/comm/failure.h"
#include "mpi/comm/world.h"
#include "mpi/datatype/view.h"
#include "mpi/rma/access_record.h"
#include "mpi/rma/adapter.h"
#include "mpi/rma/server/accumulate.h"
#include "mpi/rma/server/message.h"
#include "mpi/rma/server/request_batch.h"
#include "mpi/rma/server/sent_types.h"
#include "mpi/rma/sync/wait_note.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using wire::RmaCall;

/// The target has a longer receive buffer.
void note_long_requests(Win& win, int rank) noexcept {
  const std::uint32_t peer = win.comm->routes[rank].peer;
  win.target(rank).takes_long = win.device->sends_eagerly(peer, wire::most_long_rma_request_bytes);
}

/// An operation under way: the request, what does not fit it, and the answer. Ends itself.
class OriginOperation {
 public:
  OriginOperation(Win& win, int rank, const RmaRequest& request) noexcept
      : win_(win), rank_(rank), request_(request.request), result_bytes_(request.result_bytes) {
    hold(request.data.type);
    hold(request.result.type);
  }

  void start(const RmaRequest& request);
  /// A flush or unlock: the answer says what failed at the target.
  void expect_ack() noexcept { expects_ack_ = true; }

 private:
  enum class Part : std::uint8_t { request, description, data, answer, count };

  void hold(const Datatype* type) noexcept {
    if (type == nullptr || type->predefined) return;
    win_.library->acquire(const_cast<Datatype&>(*type));
    held_[held_count_++] = type;
  }
  void add_type(const Datatype* type);
  bool fits(std::uint64_t data_bytes) const noexcept {
    return rma_data_offset(header_.type_words) + data_bytes <= wire::most_rma_request_bytes;
  }
  void write_request(const RmaRequest& request);
  void start_answer(const RmaRequest& request) noexcept;
  void start_part(Part part) noexcept;
  void ended(const RmaMessage& message) noexcept;
  void end_part() noexcept {
    if (--open_ == 0) finish();
  }
  void fail(ErrorClass error) noexcept {
    if (error_ == ErrorClass::success) error_ = error;
  }
  void finish() noexcept;
  [[nodiscard]] RmaMessage& message(Part part) noexcept {
    return messages_[static_cast<std::size_t>(part)];
  }

  Win& win_;
  int rank_;
  Request* request_;
  std::uint64_t result_bytes_;
  wire::RmaHeader header_{};
  wire::RmaLongAck ack_{};
  bool expects_ack_ = false;
  ErrorClass error_ = ErrorClass::success;
  unsigned open_ = 1;  ///< parts under way, and `start` itself
  unsigned held_count_ = 0;
  std::array<const Datatype*, 2> held_{};
  SentTypes::Words words_;
  std::vector<std::byte> bytes_;   ///< the request
  std::vector<std::byte> copied_;  ///< data that were given packed and do not fit it
  std::array<RmaMessage, static_cast<std::size_t>(Part::count)> messages_;
};

void OriginOperation::add_type(const Datatype* type) {
  if (type == nullptr) return;
  if (type->predefined && type->basic->first == nullptr) {
    header_.type = static_cast<std::uint32_t>(type->basic->handle);
    return;
  }
  if (win_.origin.sent_types == nullptr) win_.origin.sent_types = std::make_unique<SentTypes>(win_);
  SentTypes::Description description = win_.origin.sent_types->describe(*type);
  if (description.slot != SentTypes::no_slot) {
    RmaTarget& target = win_.target(rank_);
    const auto bit = static_cast<std::uint8_t>(1U << description.slot);
    header_.slot = static_cast<std::uint8_t>(description.slot);
    if ((target.kept_types & bit) != 0) {
      header_.flags |= wire::rma_kept_type;
      return;
    }
    header_.flags |= wire::rma_keep_type;
    target.kept_types |= bit;
  }
  words_ = std::move(description.words);
  header_.type_words = static_cast<std::uint32_t>(words_->size());
  if (!fits(0)) header_.flags |= wire::rma_long_type;
}

void OriginOperation::write_request(const RmaRequest& request) {
  const bool has_words = words_ != nullptr && (header_.flags & wire::rma_long_type) == 0;
  const std::uint32_t words_here = has_words ? header_.type_words : 0;
  const std::size_t offset = rma_data_offset(words_here);
  const bool has_data = (header_.flags & wire::rma_inline) != 0;
  bytes_.resize(offset + (has_data ? header_.bytes : 0));
  std::memcpy(bytes_.data(), &header_, sizeof header_);
  if (has_words) {
    std::memcpy(bytes_.data() + sizeof header_, words_->data(),
                words_->size() * sizeof(std::int64_t));
  }
  if (!has_data || header_.bytes == 0) return;
  const std::span<std::byte> to = std::span(bytes_).subspan(offset);
  if (!request.packed.empty()) {
    std::memcpy(to.data(), request.packed.data(), to.size());
  } else {
    (void)View(*request.data.type, request.data.count).pack(request.data.address, 0, to);
  }
}

void OriginOperation::start_part(Part part) noexcept {
  RmaMessage& sent = message(part);
  sent.owner = this;
  sent.ended = [](RmaMessage& done) noexcept {
    static_cast<OriginOperation*>(done.owner)->ended(done);
  };
  ++open_;
  if (part == Part::answer) {
    sent.start_receive(win_, rank_, header_.tag, RmaLine::answers);
  } else if (part == Part::request) {
    sent.start_send(win_, rank_, 0, RmaLine::requests);
  } else {
    sent.start_send(win_, rank_, header_.tag, RmaLine::data);
  }
}

/// The answer can only come after the request, and then it has a place to go.
void OriginOperation::start_answer(const RmaRequest& request) noexcept {
  if (expects_ack_) {
    message(Part::answer)
        .set_bytes(std::as_bytes(std::span(&ack_, 1))
                       .first(win_.watch.check == nullptr ? sizeof ack_.ack : sizeof ack_));
    start_part(Part::answer);
  } else if (request.result.type != nullptr) {
    message(Part::answer)
        .set_buffer({request.result.address, request.result.count, request.result.type});
    start_part(Part::answer);
  }
}

void OriginOperation::start(const RmaRequest& request) {
  header_ = request.header;
  header_.tag = win_.origin.next_tag++ & static_cast<std::uint32_t>(largest_tag);
  add_type(request.type);
  RmaCounters& counters = win_.library->world->rma;
  counters.request_bytes += header_.bytes + result_bytes_;
  if (words_ != nullptr) ++counters.type_descriptions;
  const bool has_data = request.data.type != nullptr || !request.packed.empty();
  const bool long_type = (header_.flags & wire::rma_long_type) != 0;
  if (has_data && !long_type && fits(header_.bytes)) header_.flags |= wire::rma_inline;
  start_answer(request);
  if (RequestBatches* const batches = win_.origin.batches.get(); batches != nullptr) {
    const bool is_bare = !has_data && words_ == nullptr;
    if (is_bare && batches->send_with(rank_, header_)) return end_part();
    batches->send(rank_);  // came before
  }
  ++counters.requests;
  write_request(request);
  message(Part::request).set_bytes(bytes_);
  start_part(Part::request);
  if (long_type) {
    message(Part::description).set_bytes(std::as_bytes(std::span(*words_)));
    start_part(Part::description);
  }
  if (has_data && (header_.flags & wire::rma_inline) == 0) {
    if (!request.packed.empty()) {
      copied_.assign(request.packed.begin(), request.packed.end());
      message(Part::data).set_bytes(copied_);
    } else {
      message(Part::data).set_buffer(request.data);
    }
    start_part(Part::data);
  }
  end_part();
}

void OriginOperation::ended(const RmaMessage& done) noexcept {
  const device::Outcome& outcome = done.outcome;
  if (outcome.error != ErrorClass::success) {
    fail(outcome.error);
  } else if (&done == &message(Part::answer)) {
    if (expects_ack_) {
      const bool whole = outcome.bytes >= sizeof ack_.ack;
      fail(whole ? told_class(ack_.ack.error) : ErrorClass::intern);
      if (whole && ack_.ack.takes_long == 1) note_long_requests(win_, rank_);
      if (win_.watch.check != nullptr && outcome.bytes == sizeof ack_)
        win_.watch.check->told = ack_.conflict;
    } else if (outcome.bytes != result_bytes_) {
      fail(ErrorClass::rma_range);
    }
  }
  end_part();
}

void OriginOperation::finish() noexcept {
  --win_.target(rank_).pending;
  Library& library = *win_.library;
  end_for_program(win_, rank_, request_, error_);
  for (unsigned i = 0; i < held_count_; ++i) {
    library.release(const_cast<Datatype&>(*held_[i]));
  }
  delete this;
}

OriginOperation& make_operation(Win& win, int rank, const RmaRequest& request) {
  ++win.target(rank).pending;
  return *new OriginOperation(win, rank, request);
}

Error finish_rma_request(Request& request, MPI_Status& status) {
  set_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  if (request.operation.outcome.error == ErrorClass::success) return {};
  return operation_error(*request.comm, request.operation);
}

void release_rma_request(Request& request) {
  request.library->release(static_cast<Win&>(*request.target));
}

constexpr RequestKind rma_request{.name = "one-sided operation",
                                  .start = nullptr,
                                  .finish = finish_rma_request,
                                  .cancel = nullptr,
                                  .release = release_rma_request};

}  // namespace

ErrorClass told_class(std::int32_t told) noexcept {
  const auto error = static_cast<ErrorClass>(told);
  const bool standard = error >= ErrorClass::success && error <= ErrorClass::abi;
  return standard || base::is_extension(error) ? error : ErrorClass::intern;
}

void name_element(wire::RmaHeader& header, const Op& op, const Datatype* element) {
  header.op = static_cast<std::uint8_t>(op.code);
  const bool by_bytes = op.code == OpCode::replace || op.code == OpCode::no_op;
  if (element == nullptr || by_bytes) return;
  constexpr std::uintptr_t constants = 1024;
  const BasicType& basic = *element->basic;
  if (basic.handle < constants) {
    header.element = static_cast<std::uint32_t>(basic.handle);
  } else {
    header.element = static_cast<std::uint32_t>(basic.first->handle);
    header.second = static_cast<std::uint32_t>(basic.second->handle);
  }
}

void start_request(Win& win, int rank, const RmaRequest& request) {
  const bool checked = win.watch.check != nullptr;
  if (!checked && win.device->config().remote_schedule.merges) {
    if (win.origin.batches == nullptr) win.origin.batches = std::make_unique<RequestBatches>(win);
    if (win.origin.batches->add(rank, request)) {
      win.target(rank).dirty = true;
      return;
    }
  }
  const bool changes = static_cast<RmaCall>(request.header.call) != RmaCall::get;
  if (changes || checked) win.target(rank).dirty = true;
  make_operation(win, rank, request).start(request);
}

void send_notice(Win& win, int rank, RmaCall call, std::uint32_t number) {
  RmaRequest request;
  request.header.call = static_cast<std::uint8_t>(call);
  request.header.place = number;
  make_operation(win, rank, request).start(request);
}

void ask_for_end(Win& win, int rank, RmaCall call, std::uint8_t flags) {
  if (rank == win.rank()) {
    win.target(rank).dirty = false;
    return order_accesses(win, rank, flags);
  }
  RmaRequest request;
  request.header.call = static_cast<std::uint8_t>(call);
  request.header.flags = flags;
  drain_adapter(win, rank);  // what the answer stands for is done there
  win.target(rank).dirty = false;
  OriginOperation& operation = make_operation(win, rank, request);
  operation.expect_ack();
  operation.start(request);
}

void end_for_program(Win& win, int rank, Request* request, ErrorClass error) noexcept {
  if (error == ErrorClass::proc_failed) win.library->told_failure = true;
  RmaTarget& target = win.target(rank);
  if (request != nullptr) {
    request->operation.outcome.error = error;
    request->operation.outcome.peer = win.comm->routes[rank].peer;
    win.device->complete(request->operation);
  } else if (target.error == ErrorClass::success) {
    target.error = error;
  }
}

Error take_error(Win& win, int rank) {
  RmaTarget& target = win.target(rank);
  const ErrorClass error = std::exchange(target.error, ErrorClass::success);
  if (error == ErrorClass::success) [[likely]]
    return {};
  if (error == ErrorClass::proc_failed) {
    win.library->told_failure = true;
    const std::uint32_t process = win.comm->routes[rank].peer;
    if (win.device->failures().why(process) != nullptr) return process_error(*win.comm, process);
    // The target has learned of it, perhaps before this process.
    const Error known = failure_of(*win.comm);
    if (known.failed()) return known;
    return base::failure(error, "rank %d of %s tells that another of its processes has failed",
                         rank, name_of(win));
  }
  if (win.watch.check != nullptr && win.watch.check->told) {
    return conflict_error(win, rank, error, *std::exchange(win.watch.check->told, std::nullopt));
  }
  if (error == ErrorClass::rma_range) {
    return base::failure(error, "an operation on rank %d of %s touches memory that is not %s there",
                         rank, name_of(win), win.dynamic() ? "attached" : "in the window");
  }
  return base::failure(error, "an operation on rank %d of %s failed there", rank, name_of(win));
}

Error complete_locally(Win& win, int rank) {
  const RmaTarget& target = win.target(rank);
  if (target.pending != 0) {
    const WindowWait wait(win, WindowWait::For::operations, rank);
    win.device->wait([&]() noexcept { return target.pending == 0; }, wait.note());
  }
  return take_error(win, rank);
}

Error complete_opened(Win& win, std::uint8_t flags) {
  for_each_opened(win, [&](int rank) {
    if (win.target(rank).dirty) ask_for_end(win, rank, RmaCall::flush, flags);
  });
  Error error;
  for_each_opened(win, [&](int rank) {
    const Error each = complete_locally(win, rank);
    if (error.ok()) error = each;
  });
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return error;
}

Request* make_rma_request(Win& win, MPI_Request& out) noexcept {
  Request* request = make_request(rma_request, *win.comm, {});
  if (request == nullptr) return nullptr;
  win.library->acquire(win);  // errors are raised on it
  request->target = &win;
  out = handle_cast<MPI_Request>(*request);
  return request;
}

}  // namespace fulmar::mpi
