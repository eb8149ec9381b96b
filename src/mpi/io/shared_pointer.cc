// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/shared_pointer.h"

#include <new>
#include <optional>

#include "mpi/coll/engine/coll_context.h"
#include "mpi/coll/node_map.h"
#include "mpi/comm/failure.h"
#include "mpi/io/agreement.h"
#include "mpi/p2p/message.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::Result;

struct Question {
  std::int64_t bytes;
  std::int32_t rank;
  std::int32_t unused;
};

ConstData bytes_of_value(const Comm& comm, const void* value, std::size_t bytes) {
  return {value, static_cast<Count>(bytes), comm.library->find<Datatype>(MPI_BYTE)};
}
Data room_for(const Comm& comm, void* value, std::size_t bytes) {
  return {value, static_cast<Count>(bytes), comm.library->find<Datatype>(MPI_BYTE)};
}

}  // namespace

/// Rank 0: answers questions, one after the other, until it is withdrawn.
class SharedPointer::Keeper {
 public:
  Keeper(Comm& comm, int request_tag, int answer_tag) noexcept
      : questions_(comm, request_tag), answers_(comm, answer_tag) {
    questions_.start(answer_all(questions_, *this), ended_);
  }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper() {
    questions_.abandon(Error(base::ErrorClass::intern));
    answers_.abandon(Error(base::ErrorClass::intern));
    questions_.comm().device->wait_done(ended_);
  }

  Count add(Count bytes) noexcept {
    const Count old = value_;
    value_ += bytes;
    return old;
  }
  void set(Count bytes) noexcept { value_ = bytes; }

 private:
  static CollTask answer_all(CollContext& questions, Keeper& keeper) {
    Comm& comm = questions.comm();
    for (;;) {
      Question question{};
      co_await questions.receive(room_for(comm, &question, sizeof question), MPI_ANY_SOURCE);
      if (questions.result().failed()) co_return;
      if (question.rank <= 0 || question.rank >= comm.size()) continue;
      const Count answer = keeper.add(question.bytes);
      co_await keeper.answers_.send(bytes_of_value(comm, &answer, sizeof answer), question.rank);
    }
  }

  CollContext questions_;
  CollContext answers_;
  Count value_ = 0;
  device::Operation ended_;
};

SharedPointer::SharedPointer() noexcept = default;
SharedPointer::~SharedPointer() = default;

/// Whether all ranks can look into memory of rank 0.
Error SharedPointer::share_memory(bool& shared) {
  shared = false;
  if (node_map(*comm_).leaders().size() != 1) return {};
  io::SharedWord::Place place;
  if (comm_->rank == 0) {
    Result<io::SharedWord> made = io::SharedWord::make();
    if (made.ok()) {
      word_ = std::move(made.value());
      place = word_.place();
    }
  }
  if (const Error error = tell_all(*comm_, &place, sizeof place); error.failed()) return error;
  Error mine;
  if (comm_->rank != 0) {
    Result<io::SharedWord> found = io::SharedWord::open(place);
    mine = found.error();
    if (found.ok()) word_ = std::move(found.value());
  } else if (!word_.is_open()) {
    mine = Error(base::ErrorClass::other);
  }
  shared = agree(*comm_, mine).ok();
  return failure_of(*comm_);
}

Error SharedPointer::open(Comm& comm, Place place) {
  comm_ = &comm;
  if (comm.size() == 1) {
    Result<io::SharedWord> made = io::SharedWord::make();
    if (made.failed()) return made.error();
    word_ = std::move(made.value());
    in_memory_ = true;
    return {};
  }
  if (place == Place::memory_if_possible) {
    if (const Error error = share_memory(in_memory_); error.failed()) return error;
  }
  if (in_memory_) return {};
  request_tag_ = next_tag(comm);
  answer_tag_ = next_tag(comm);
  if (comm.rank != 0) return {};
  keeper_.reset(new (std::nothrow) Keeper(comm, request_tag_, answer_tag_));
  if (keeper_ != nullptr) return {};
  return base::failure(base::ErrorClass::no_mem, "no memory for the shared file pointer");
}

void SharedPointer::close() noexcept { keeper_.reset(); }

Result<Count> SharedPointer::add(Count bytes) {
  if (in_memory_) return Count{word_.word().fetch_add(bytes)};
  return keeper_ != nullptr ? Result<Count>(keeper_->add(bytes)) : ask(bytes);
}

Result<Count> SharedPointer::ask(Count bytes) {
  // One question at a time: answers are told apart by nothing.
  comm_->device->wait([&]() noexcept { return !asking_; });
  asking_ = true;
  const Question question{bytes, comm_->rank, 0};
  Count answer = 0;
  Error error = send_message(*comm_, bytes_of_value(*comm_, &question, sizeof question), 0,
                             request_tag_, Channel::collective);
  if (error.ok()) {
    error = receive_message(*comm_, room_for(*comm_, &answer, sizeof answer), 0, answer_tag_,
                            Channel::collective);
  }
  asking_ = false;
  if (error.failed()) return error;
  return answer;
}

void SharedPointer::set(Count bytes) noexcept {
  if (in_memory_) {
    word_.word().store(bytes);
  } else if (keeper_ != nullptr) {
    keeper_->set(bytes);
  }
}

}  // namespace fulmar::mpi
