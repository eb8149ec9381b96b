// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/memory/pages.h"
#include "fabric/network.h"
#include "study/design.h"
#include "study/lane.h"
#include "wire/study/pipe.h"

/// Pipes in memory that adapters write to (fabric::WritesUnsignaled).
///
/// Each side of a pair has a pipe that the other writes to, open to peers, and an image of the pipe
/// at the other side, registered for local use, from which the adapter writes. Data are written from
/// the image to the same place in the pipe: there is no other copy, and no completion is reported. The image may be used again when the peer has shown, by the pipe that leads back, that it
/// took what was there. Words of control are different: they change while the write of the last
/// value may still wait. They are short enough for the provider to copy.
///
/// The address of the pipe at the other side comes from the peer (wire::PipeCard) and is not trusted: its
/// adapter allows writes only to memory that the peer has registered.
namespace fulmar::study {

template <fabric::WritesUnsignaled P>
class RemotePipe {
 public:
  RemotePipe(P& provider, std::uint32_t peer) noexcept : provider_(provider), peer_(peer) {}
  RemotePipe(const RemotePipe&) = delete;
  RemotePipe& operator=(const RemotePipe&) = delete;
  ~RemotePipe() { close(); }

  /// Opens the memory here. Fails (no_mem, other) with a text that says what was refused.
  [[nodiscard]] base::Error open(std::uint64_t ring_bytes) {
    bytes_ = sizeof(wire::PipeControl) + ring_bytes;
    memory_ = base::Pages(2 * bytes_);
    if (memory_.bytes().empty()) {
      return base::failure(base::ErrorClass::no_mem, "no memory for a pipe of %llu bytes",
                           static_cast<unsigned long long>(bytes_));
    }
    auto pipe = provider_.open_memory(memory_.bytes().first(bytes_), fabric::Access::peers_write);
    if (pipe.failed()) return pipe.error();
    pipe_ = pipe.value();
    auto image = provider_.open_memory(memory_.bytes().subspan(bytes_), fabric::Access::local);
    if (image.failed()) return image.error();
    image_ = image.value();
    return {};
  }
  /// No put of this process uses the memory any more.
  void close() {
    if (pipe_) provider_.close_memory(*pipe_);
    if (image_) provider_.close_memory(*image_);
    pipe_.reset();
    image_.reset();
  }
  /// Pieces of memory that are open.
  [[nodiscard]] unsigned open_pieces() const noexcept {
    return (pipe_ ? 1U : 0U) + (image_ ? 1U : 0U);
  }

  /// The pipe that the peer writes to.
  [[nodiscard]] const std::byte* own() const noexcept { return memory_.bytes().data(); }
  [[nodiscard]] fabric::RemoteAddress place() const noexcept {
    return {pipe_->name_of(own()), pipe_->rkey};
  }
  /// From now on the peer can be written to.
  void meet(const fabric::RemoteAddress& theirs) noexcept { theirs_ = theirs; }
  [[nodiscard]] bool is_met() const noexcept { return theirs_.has_value(); }

  // As a Lane.
  [[nodiscard]] std::byte* image(std::uint64_t at) noexcept {
    return memory_.bytes().data() + bytes_ + at;
  }
  [[nodiscard]] bool has_room() const noexcept { return is_met() && waiting_.empty(); }
  void write(std::uint64_t at, std::uint64_t bytes) {
    Write write{at, bytes, {}};
    if (bytes <= sizeof write.copy) std::memcpy(write.copy.data(), image(at), bytes);
    if (!waiting_.empty() || !put(write)) waiting_.push_back(write);
  }

  /// Gives what the provider had no room for. True if something moved.
  bool flush() {
    const std::size_t before = waiting_.size();
    while (!waiting_.empty() && put(waiting_.front())) waiting_.pop_front();
    return waiting_.size() != before;
  }
  /// Everything that was written is on its way.
  [[nodiscard]] bool is_flushed() const noexcept { return waiting_.empty(); }

 private:
  struct Write {
    std::uint64_t at;
    std::uint64_t bytes;
    std::array<std::byte, sizeof(std::uint64_t)> copy;  ///< of a word
  };

  [[nodiscard]] bool put(const Write& write) {
    const std::span<const std::byte> from =
        write.bytes <= sizeof write.copy ? std::span<const std::byte>(write.copy).first(write.bytes)
                                         : std::span<const std::byte>(image(write.at), write.bytes);
    const fabric::RemoteAddress to{theirs_->address + write.at, theirs_->key};
    return provider_.rdma_write_unsignaled(peer_, from, image_->lkey, to) == fabric::Post::done;
  }

  P& provider_;
  std::uint32_t peer_;
  std::uint64_t bytes_ = 0;  ///< of a pipe
  base::Pages memory_;       ///< the pipe, and behind it the image
  std::optional<fabric::MemoryRegion> pipe_;
  std::optional<fabric::MemoryRegion> image_;
  std::optional<fabric::RemoteAddress> theirs_;
  std::deque<Write> waiting_;
};

/// A lane into the pipe of one peer.
template <fabric::WritesUnsignaled P>
class PutLane {
 public:
  static constexpr bool bottom_word = true;

  explicit PutLane(RemotePipe<P>& pipe) noexcept : pipe_(&pipe) {}
  [[nodiscard]] std::byte* image(std::uint64_t at) noexcept { return pipe_->image(at); }
  /// Any number: what the provider has no room for waits.
  [[nodiscard]] bool has_room(unsigned /*writes*/) const noexcept { return pipe_->has_room(); }
  void write(std::uint64_t at, std::uint64_t bytes) { pipe_->write(at, bytes); }
  void publish(std::uint64_t at, std::uint64_t bytes, std::uint64_t word) {
    std::memcpy(image(at), &word, sizeof word);
    write(at, bytes);
  }

 private:
  RemotePipe<P>* pipe_;
};

}  // namespace fulmar::study
