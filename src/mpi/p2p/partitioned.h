// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/sanitizer.h"
#include "mpi/request/request.h"

/// Partitioned communication (MPI 5.0 chapter 4).
///
/// **Matching.** MPI_Psend_init sends an offer with the user's tag, in a context of the
/// communicator that nothing else uses (Channel::partitioned); MPI_Precv_init posts a receive for
/// it there. So offers and receives match in the order of the init calls, by the rules
/// of all messages. The receiver answers with a context id that it allocates for this
/// pair. Until the answer is there, partitions that are ready wait at the sender.
///
/// **Data.** A message of the pair's context carries one partition of the sender, or several
/// neighbours that were ready together, as long as they make a short message. Its tag is the number
/// of the first. The receiver needs no posted receives: a progress callback takes messages that
/// have arrived and determines their place in the buffer from the tag and the size of the sender's
/// partitions, so the two sides may cut the data differently. Messages of one round are all
/// ahead of those of the next. Where there are no bytes at all, one empty message stands for the
/// round.
///
/// **Threads.** MPI_Pready takes the lock of the library only if it must. Partitions that are ready
/// are pushed to a stack without a lock. A thread that finds it empty takes the lock and sends all
/// partitions that are on it by then; a thread that finds it non-empty leaves its own to that
/// thread. MPI_Parrived reads one counter.
namespace fulmar::mpi {

/// The data of one side: `partitions` times `count` elements.
struct PartitionedData {
  void* address = nullptr;
  int partitions = 0;
  Count count = 0;
  const Datatype* type = nullptr;

  [[nodiscard]] std::uint64_t partition_bytes() const noexcept {
    return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(type->size);
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return partition_bytes() * static_cast<std::uint64_t>(partitions);
  }
};

/// Moves a part of the data, from any byte of the packed stream on.
class PartPacker final : public device::Packer {
 public:
  PartPacker(const PartitionedData& data, std::uint64_t first_byte) noexcept
      : view_(*data.type, data.count * data.partitions), first_byte_(first_byte) {}

  std::size_t pack(const void* base, std::uint64_t offset, std::span<std::byte> to) const override {
    return view_.pack(base, first_byte_ + offset, to);
  }
  std::size_t unpack(void* base, std::uint64_t offset,
                     std::span<const std::byte> from) const override {
    return view_.unpack(base, first_byte_ + offset, from);
  }
  std::size_t segments(void* base, std::uint64_t offset, std::uint64_t bytes,
                       std::span<iovec> out) const override {
    return view_.segments(base, first_byte_ + offset, bytes, out);
  }

 private:
  View view_;
  std::uint64_t first_byte_;
};

/// A message of partitions in flight.
template <class Owner>
struct PartMessage : device::Operation {
  Owner* owner = nullptr;
  PartMessage* next_spare = nullptr;
  std::uint64_t first_byte = 0;
  std::optional<PartPacker> part_packer;

  /// `bytes` bytes from `first` on of the packed data.
  void cover(const PartitionedData& data, std::uint64_t first, std::uint64_t bytes) noexcept {
    first_byte = first;
    part_packer.reset();
    if (data.type->contiguous) {
      buffer = {static_cast<std::byte*>(data.address) + first, bytes, nullptr};
    } else {
      buffer = {data.address, bytes, &part_packer.emplace(data, first)};
    }
  }
};

/// Unused message objects. There is always one, so that each side can continue, piece by
/// piece, when memory is used up.
template <class Owner>
class PartMessages {
 public:
  explicit PartMessages(Owner& owner) noexcept { give(last_resort_, owner); }
  ~PartMessages() {
    while (PartMessage<Owner>* message = spare_) {
      spare_ = message->next_spare;
      if (message != &last_resort_) delete message;
    }
  }
  PartMessages(const PartMessages&) = delete;
  PartMessages& operator=(const PartMessages&) = delete;

  /// nullptr: wait until one is given back.
  [[nodiscard]] PartMessage<Owner>* take(Owner& owner) noexcept {
    if (spare_ == nullptr) {
      auto* fresh = new (std::nothrow) PartMessage<Owner>;
      if (fresh == nullptr) return nullptr;
      give(*fresh, owner);
    }
    PartMessage<Owner>* message = spare_;
    spare_ = message->next_spare;
    return message;
  }
  void give(PartMessage<Owner>& message, Owner& owner) noexcept {
    message.owner = &owner;
    message.next_spare = spare_;
    spare_ = &message;
  }

 private:
  PartMessage<Owner>* spare_ = nullptr;
  PartMessage<Owner> last_resort_;
};

/// The sender's offer. From another process: checked by the receiver.
struct PartitionedOffer {
  std::uint64_t partition_bytes;
  std::int32_t partitions;
  std::int32_t answer_tag;
};
/// The receiver's answer.
struct PartitionedAnswer {
  std::uint32_t context;  ///< of the messages with data, at the receiver
  std::uint32_t reserved;
};

/// The sending side; `extra` of its request. All but `mark` needs the lock of the library.
class PartitionedSend {
 public:
  PartitionedSend(Request& request, const PartitionedData& data) noexcept;
  PartitionedSend(const PartitionedSend&) = delete;
  PartitionedSend& operator=(const PartitionedSend&) = delete;

  /// Allocates the marks; false when memory is used up.
  [[nodiscard]] bool allocate();
  /// Sends the offer. `dest` is a rank.
  void open(int dest, int tag) noexcept;
  void start() noexcept;
  /// The result of `mark`: nothing to do, `flush` must be called, or which partition was marked
  /// before.
  struct Marked {
    bool must_flush = false;
    int twice = -1;
  };
  /// The partitions `first` to `last` are ready. Any thread, without the lock. Once a partition has
  /// been marked the request may complete and end, in another thread: the caller must look it up
  /// again.
  [[nodiscard]] Marked mark(int first, int last) noexcept;
  /// Sends the marked partitions.
  void flush() noexcept;
  /// A partition that has not been marked; -1 if there is none.
  [[nodiscard]] int unmarked() const noexcept;
  [[nodiscard]] bool connected() const noexcept { return connected_; }
  [[nodiscard]] int partitions() const noexcept { return data_.partitions; }
  [[nodiscard]] base::ErrorClass error() const noexcept { return error_; }
  /// The communicator was revoked: sends nothing more.
  void end(base::ErrorClass error) noexcept;
  /// The request ends. Destroys this, maybe later, when the device does not use it any more.
  void release() noexcept;

 private:
  using Message = PartMessage<PartitionedSend>;
  struct Part : device::Operation {
    PartitionedSend* owner = nullptr;
  };

  /// Values of `links_` other than the number of the partition pushed before.
  static constexpr std::int32_t not_ready = -1;
  static constexpr std::int32_t nothing = -2;

  void on_answer() noexcept;
  void collect_marked() noexcept;
  void send_marked() noexcept;
  std::int32_t send_run(std::int32_t first, std::int32_t limit) noexcept;
  [[nodiscard]] bool send_part(std::int32_t first, std::uint64_t bytes) noexcept;
  void on_sent(Message& message) noexcept;
  void push(std::int32_t first, std::int32_t last, bool& was_empty) noexcept;
  void let_go() noexcept;

  Request* request_;
  device::Device& device_;
  PartitionedData data_;
  std::uint32_t peer_ = 0;
  PartitionedOffer offer_{};
  PartitionedAnswer answer_{};
  Part offering_;
  Part answering_;
  bool connected_ = false;
  bool released_ = false;
  bool empty_owed_ = false;  ///< the empty message of a round without bytes
  bool starved_ = false;     ///< marked partitions wait for a spare message
  int unsent_ = 0;           ///< partitions of this round
  int handshake_ = 0;        ///< messages of the handshake that are in the device
  int open_ = 0;             ///< messages with data in the device, and functions that run here
  base::ErrorClass error_ = base::ErrorClass::success;
  PartMessages<PartitionedSend> messages_;
  std::vector<std::int32_t> batch_;
  std::unique_ptr<std::atomic<std::int32_t>[]> links_;
  std::atomic<std::int32_t> top_{nothing};
};

/// The receiving side. All but `arrived` needs the lock of the library.
class PartitionedReceive : device::Device::ProgressCallback {
 public:
  PartitionedReceive(Request& request, const PartitionedData& data) noexcept;
  PartitionedReceive(const PartitionedReceive&) = delete;
  PartitionedReceive& operator=(const PartitionedReceive&) = delete;

  [[nodiscard]] bool allocate();
  /// Waits for the offer. `source` is a rank.
  void open(int source, int tag) noexcept;
  void start() noexcept;
  /// Whether all bytes of a partition are there. Any thread, without the lock.
  [[nodiscard]] bool arrived(int partition) const noexcept {
    if (missing_[static_cast<std::size_t>(partition)].load(std::memory_order_acquire) != 0) {
      return false;
    }
    if (base::thread_sanitizer_present()) base::note_acquired(missing_.get());
    return true;
  }
  [[nodiscard]] int partitions() const noexcept { return data_.partitions; }
  base::Error finish(MPI_Status& status) const noexcept;
  /// No more messages will arrive: this round, and all others, end with an error.
  void end(base::ErrorClass error) noexcept;
  void release() noexcept;

 private:
  using Message = PartMessage<PartitionedReceive>;
  struct Part : device::Operation {
    PartitionedReceive* owner = nullptr;
  };

  void on_offer() noexcept;
  [[nodiscard]] base::ErrorClass check_offer() noexcept;
  void answer() noexcept;
  void begin_round() noexcept;
  unsigned take_arrivals() noexcept;
  void take(device::Arrival& arrival, Message& message) noexcept;
  void on_received(Message& message) noexcept;
  void watch(bool wanted) noexcept;
  void let_go() noexcept;

  Request* request_;
  device::Device& device_;
  PartitionedData data_;
  std::uint32_t peer_ = 0;
  int rank_ = 0;
  int tag_ = 0;
  match::Key answer_key_;
  PartitionedOffer offer_{};
  PartitionedAnswer answer_{};
  Part offering_;
  Part answering_;
  bool connected_ = false;
  bool watching_ = false;
  bool released_ = false;
  bool empty_due_ = false;      ///< the empty message of a round without bytes
  std::uint64_t expected_ = 0;  ///< bytes that the sender has
  std::uint64_t untaken_ = 0;   ///< of them in this round, of which no message has been taken
  int handshake_ = 0;
  int open_ = 0;
  base::ErrorClass lasting_error_ = base::ErrorClass::success;  ///< of the handshake
  base::ErrorClass error_ = base::ErrorClass::success;          ///< of this round
  PartMessages<PartitionedReceive> messages_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> missing_;  ///< bytes, by partition
};

}  // namespace fulmar::mpi
