// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "mpi/request/request.h"
#include "mpi/rma/win.h"
#include "wire/rma/rma_message.h"

/// The messages of a window. They travel on its own communicator, under contexts that nothing else
/// uses and that stay whole when one of its processes fails.
namespace fulmar::mpi {

enum class RmaLine : std::uint32_t {
  requests = 5,  ///< RmaHeader and what follows it, to the target's RmaServer
  data = 6,      ///< what does not fit a request, from the origin to the target
  answers = 7,   ///< from the target to the origin
};

/// One message under way. `on_done` may free it.
struct RmaMessage : device::Operation {
  std::optional<TypePacker> packer;
  void* owner = nullptr;
  /// Called when it is done, from progress or before `start` returns; set before.
  void (*ended)(RmaMessage&) noexcept = nullptr;
  Win* win = nullptr;

  /// Where the data lie.
  void set_buffer(const ConstData& data) noexcept { buffer = buffer_of(data, packer); }
  void set_bytes(std::span<const std::byte> bytes) noexcept {
    buffer = {const_cast<std::byte*>(bytes.data()), bytes.size(), nullptr};
  }
  void start_send(Win& window, int rank, std::uint32_t tag, RmaLine line) noexcept {
    count(window);
    posted.key = key_on(window.comm->key_to(rank, static_cast<int>(tag)), line);
    window.device->start_send(*this);
  }
  void start_receive(Win& window, int rank, std::uint32_t tag, RmaLine line) noexcept {
    count(window);
    posted.key = key_on(window.comm->key_from(rank, static_cast<int>(tag)), line);
    window.device->start_receive(*this);
  }

  static match::Key key_on(match::Key key, RmaLine line) noexcept {
    key.context |= static_cast<std::uint32_t>(line);
    return key;
  }

 private:
  void count(Win& window) noexcept {
    win = &window;
    ++window.busy;
    on_done = [](device::Operation& operation) {
      auto& self = static_cast<RmaMessage&>(operation);
      --self.win->busy;
      self.ended(self);
    };
  }
};

/// Where the data of a request begin, behind the header and the description of a datatype: aligned
/// for elements of any type.
[[nodiscard]] constexpr std::size_t rma_data_offset(std::uint32_t type_words) noexcept {
  constexpr std::size_t alignment = 16;
  const std::size_t front = sizeof(wire::RmaHeader) + std::size_t{type_words} * 8;
  return (front + alignment - 1) / alignment * alignment;
}

/// Bytes of a request whose data stand in it, up to where another one may follow.
[[nodiscard]] constexpr std::uint64_t rma_record_bytes(std::uint32_t type_words,
                                                       std::uint64_t data_bytes) noexcept {
  constexpr std::uint64_t alignment = wire::rma_record_alignment;
  return (rma_data_offset(type_words) + data_bytes + alignment - 1) / alignment * alignment;
}

}  // namespace fulmar::mpi
