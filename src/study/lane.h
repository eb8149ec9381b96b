// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace fulmar::study {

/// How a design writes to the pipe of one peer. The sender composes what it writes in an *image* of
/// the pipe, at the same offsets; what is written arrives in the order of the calls. The image may
/// be changed again where the peer has said that it took what was there.
///
/// * `image(at)`: where to compose.
/// * `has_room(writes)`: whether so many writes can be given now.
/// * `write(at, bytes)`: the image's bytes [at, at + bytes) go over.
/// * `publish(at, bytes, word)`: the same, and `word` is put into the eight bytes at `at`, which the
///   peer polls: it sees all that was written before, and, where `bottom_word` is false, the rest
///   of this write, too. Where `bottom_word` is true the rest may arrive after the word.
template <class L>
concept Lane =
    requires(L& lane, std::uint64_t at, std::uint64_t bytes, std::uint64_t word, unsigned writes) {
      { lane.image(at) } -> std::same_as<std::byte*>;
      { lane.has_room(writes) } -> std::same_as<bool>;
      lane.write(at, bytes);
      lane.publish(at, bytes, word);
      { L::bottom_word } -> std::convertible_to<bool>;
    };

/// Over memory that both processes map: the image is the peer's memory itself, and a write is no
/// more than the order in which the stores are seen.
class MappedLane {
 public:
  static constexpr bool bottom_word = false;

  explicit MappedLane(std::byte* pipe) noexcept : pipe_(pipe) {}
  [[nodiscard]] std::byte* image(std::uint64_t at) noexcept { return pipe_ + at; }
  [[nodiscard]] bool has_room(unsigned /*writes*/) const noexcept { return true; }
  void write(std::uint64_t /*at*/, std::uint64_t /*bytes*/) noexcept {}
  void publish(std::uint64_t at, std::uint64_t /*bytes*/, std::uint64_t word) noexcept {
    reinterpret_cast<std::atomic<std::uint64_t>*>(pipe_ + at)
        ->store(word, std::memory_order_release);
  }

 private:
  std::byte* pipe_;
};
static_assert(Lane<MappedLane>);

}  // namespace fulmar::study
