// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/shared_pointer.h"

#include <new>
#include <optional>

#include "mpi/coll/node_map.h"
#include "mpi/comm/failure.h"
#include "mpi/io/collective/agreement.h"
#include "mpi/io/file_state.h"
#include "mpi/p2p/message.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::Result;

/// From a rank to rank 0: by how much the pointer is to move on. The answer is its old value.
struct Question {
  std::int64_t bytes;
};

ConstData bytes_of_value(const Comm& comm, const void* value, std::size_t bytes) {
  return {value, static_cast<Count>(bytes), comm.library->find<Datatype>(MPI_BYTE)};
}
Data room_for(const Comm& comm, void* value, std::size_t bytes) {
  return {value, static_cast<Count>(bytes), comm.library->find<Datatype>(MPI_BYTE)};
}

}  // namespace

/// Rank 0: answers requests, one after the other, until it ends. The contents of a request are not
/// trusted but the number of bytes: the rank that asks is the one that the device names.
///
/// Thread rule: the lock of the library.
class SharedPointer::Keeper {
 public:
  Keeper(Comm& comm, int request_tag, int answer_tag) noexcept
      : comm_(comm), request_tag_(request_tag), answer_tag_(answer_tag) {
    receive_.keeper = this;
    receive_questions();
  }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper() {
    ended_ = true;
    comm_.device->cancel(receive_);
    comm_.device->wait([this]() noexcept { return receive_.done() && answers_ == 0; });
  }

  /// Wraps around where a sum leaves 64 bits; check_end refuses what comes of it.
  Count add(Count bytes) noexcept {
    const Count old = value_;
    value_ =
        static_cast<Count>(static_cast<std::uint64_t>(old) + static_cast<std::uint64_t>(bytes));
    return old;
  }
  void set(Count bytes) noexcept { value_ = bytes; }

 private:
  struct Message : device::Operation {
    Keeper* keeper = nullptr;
    Count value = 0;
  };

  /// Questions that have come meanwhile complete the receive at once: no recursion, but another
  /// turn.
  void receive_questions() noexcept {
    receiving_ = true;
    do {
      receive_.~Message();
      new (&receive_) Message;
      receive_.keeper = this;
      receive_.posted.key = on_files(comm_.key_from(MPI_ANY_SOURCE, request_tag_));
      receive_.buffer = {&question_, sizeof question_, nullptr};
      receive_.on_done = [](device::Operation& operation) {
        Keeper& self = *static_cast<Message&>(operation).keeper;
        if (!self.receiving_ && self.take_question()) self.receive_questions();
      };
      comm_.device->start_receive(receive_);
    } while (receive_.done() && take_question());
    receiving_ = false;
  }

  /// False where no more can come: this ends, or a process of the file has failed.
  bool take_question() noexcept {
    const device::Outcome& outcome = receive_.outcome;
    const bool too_long = outcome.error == base::ErrorClass::truncate;
    if (ended_ || outcome.cancelled) return false;
    if (!too_long && outcome.error != base::ErrorClass::success) return false;
    const int rank = comm_.rank_of(outcome.peer);
    if (!too_long && outcome.bytes == sizeof question_ && rank > 0) answer(rank);
    return true;
  }

  void answer(int rank) noexcept {
    const Count value = add(question_.bytes);
    const match::Key key = on_files(comm_.key_to(rank, answer_tag_));
    if (comm_.device->send_now(key, &value, sizeof value)) return;
    auto* message = new Message;
    message->keeper = this;
    message->value = value;
    message->posted.key = key;
    message->buffer = {&message->value, sizeof message->value, nullptr};
    message->on_done = [](device::Operation& operation) {
      auto& sent = static_cast<Message&>(operation);
      --sent.keeper->answers_;
      delete &sent;
    };
    ++answers_;
    comm_.device->start_send(*message);
  }

  static match::Key on_files(match::Key key) noexcept {
    key.context |= Comm::collective_bit;
    return key;
  }

  Comm& comm_;
  int request_tag_;
  int answer_tag_;
  Count value_ = 0;
  unsigned answers_ = 0;    ///< messages under way
  bool receiving_ = false;  ///< a receive is being started
  bool ended_ = false;
  Question question_{};
  Message receive_;
};

SharedPointer::SharedPointer() noexcept = default;
SharedPointer::~SharedPointer() = default;

/// Of this process, at 0.
Result<io::SharedWord> SharedPointer::own_word() {
  io::SharedWord spare = comm_->library->files->spare_words.take_own();
  if (spare.is_open()) return spare;
  return io::SharedWord::make();
}

Result<io::SharedWord> SharedPointer::word_at(const io::SharedWord::Place& place) {
  io::SharedWord spare = comm_->library->files->spare_words.take(place);
  if (spare.is_open()) return spare;
  return io::SharedWord::open(place);
}

/// Whether all ranks can map memory of rank 0.
Error SharedPointer::share_memory(bool& shared) {
  shared = false;
  if (node_map(*comm_).leaders().size() != 1) return {};
  io::SharedWord::Place place;
  if (comm_->rank == 0) {
    Result<io::SharedWord> made = own_word();
    if (made.ok()) {
      word_ = std::move(made.value());
      place = word_.place();
    }
  }
  if (const Error error = tell_all(*comm_, &place, sizeof place); error.failed()) return error;
  Error mine;
  if (comm_->rank != 0) {
    Result<io::SharedWord> found = word_at(place);
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
    Result<io::SharedWord> made = own_word();
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

void SharedPointer::close() noexcept {
  keeper_.reset();
  // Where a process has failed, others may not be done with it.
  if (in_memory_ && comm_->failed_process == Comm::none_failed) {
    comm_->library->files->spare_words.keep(std::move(word_));
  }
}

Result<Count> SharedPointer::add(Count bytes) {
  if (in_memory_) return Count{word_.word().fetch_add(bytes)};
  return keeper_ != nullptr ? Result<Count>(keeper_->add(bytes)) : ask(bytes);
}

Result<Count> SharedPointer::ask(Count bytes) {
  // One request at a time: answers carry no number.
  comm_->device->wait([&]() noexcept { return !asking_; });
  asking_ = true;
  const Question question{bytes};
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
