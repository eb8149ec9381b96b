// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fuzz/one_process.h"
#include "fuzz/targets.h"
#include "mpi/rma/server/message.h"
#include "mpi/rma/server/server.h"
#include "mpi/rma/server/type_description.h"
#include "mpi/rma/win.h"

namespace fulmar::fuzz {
namespace {

using wire::RmaCall;
using Messages = std::vector<std::unique_ptr<device::Message>>;

constexpr std::uint32_t line_of(mpi::RmaLine line) { return static_cast<std::uint32_t>(line); }

/// A window of rank 0: of its own memory, or a dynamic one with two pieces attached. The memory is
/// exactly as long as is told, so that a sanitizer sees a byte too many.
class Window {
 public:
  static constexpr std::size_t bytes = 1024;

  Window(OneProcess& process, bool dynamic)
      : process_(process), win_(*process.library().make<mpi::Win>(process.library())) {
    win_.comm = process.comm;
    process.comm->user_handles = 2;  // the window gives one back
    process.library().acquire(*process.comm);
    win_.device = &process.cluster.device(0);
    win_.targets.resize(3);
    win_.flavor = dynamic ? MPI_WIN_FLAVOR_DYNAMIC : MPI_WIN_FLAVOR_CREATE;
    win_.node.own_control = std::make_unique<wire::RmaControl>();
    mpi::RmaTarget& self = win_.target(0);
    self.control = win_.node.own_control.get();
    if (dynamic) {
      const auto first = reinterpret_cast<std::uint64_t>(memory_.data());
      win_.attached = {{first, bytes / 4}, {first + bytes / 2, bytes / 2}};
    } else {
      win_.base = memory_.data();
      self.memory = memory_.data();
      self.size = bytes;
      self.direct = true;
    }
    win_.server = std::make_unique<mpi::RmaServer>(win_);
    win_.server->start();
  }
  ~Window() { process_.library().retire(win_); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  [[nodiscard]] mpi::Win& win() const noexcept { return win_; }
  /// What a header calls a byte of the second half of the memory, which is attached in any case.
  [[nodiscard]] std::int64_t place(std::int64_t at) const noexcept {
    const auto half = static_cast<std::int64_t>(bytes) / 2;
    return win_.dynamic() ? reinterpret_cast<std::int64_t>(memory_.data()) + half + at : half + at;
  }
  [[nodiscard]] const std::byte* half() const noexcept { return memory_.data() + bytes / 2; }

 private:
  OneProcess& process_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(bytes);
  mpi::Win& win_;
};

std::vector<std::byte> request_of(const wire::RmaHeader& header,
                                  std::span<const std::int64_t> words,
                                  std::span<const std::byte> data) {
  const auto described = static_cast<std::uint32_t>(words.size());
  std::vector<std::byte> request(mpi::rma_data_offset(described) + data.size());
  std::memcpy(request.data(), &header, sizeof header);
  if (!words.empty()) {
    std::memcpy(request.data() + sizeof header, words.data(), words.size_bytes());
  }
  if (!data.empty()) {
    std::memcpy(request.data() + request.size() - data.size(), data.data(), data.size());
  }
  return request;
}

/// Types, of which some have elements in one place, gaps, or nothing.
std::vector<std::int64_t> words_of(std::uint8_t kind, Input& input) {
  switch (kind % 8) {
    case 0:
      return {0, 4, 0, 0, 4};  // a run
    case 1:
      return {0, 0, 0, 0, 8};  // repetitions in one place
    case 2:
      return {0, 64, 1, 0, 3, 16, 4};  // strided
    case 3:
      return {0, 16, 1, 0, std::int64_t{1} << 40, 0, 8};  // many in one place
    case 4:
      return {0, 8, 0, -8, 16};  // before its origin
    case 5:
      return {0, 0, 0, 0, 0};  // nothing
    case 6:
      return {0, 700, 1, 0, 2, 600, 8};  // a gap that is not attached
    default:
      break;
  }
  std::vector<std::int64_t> words;
  for (unsigned i = 0; i < kind / 8U; ++i) words.push_back(input.number(16));
  return words;
}

class HostileOrigin {
 public:
  HostileOrigin(OneProcess& process, const Window& window) noexcept
      : process_(process), window_(window) {}

  void step(Input& input) {
    const std::uint8_t what = input.byte();
    if (what < 16) return send(mpi::RmaLine::requests, 0, input.bytes(what * 8U));
    if (what < 48) return send(mpi::RmaLine::data, input.byte() % 8, input.bytes(what));
    if (what < 64) return take_answer(input);
    if (what == 64) return send(mpi::RmaLine::requests, 0, std::vector<std::byte>(50'000));
    send_request(input);
  }

 private:
  void send(mpi::RmaLine line, int tag, std::span<const std::byte> bytes) {
    messages_.push_back(process_.send(OneProcess::hostile, line_of(line), tag, bytes));
  }
  void take_answer(Input& input) {
    messages_.push_back(process_.receive(OneProcess::hostile, line_of(mpi::RmaLine::answers),
                                         input.byte() % 8, input.byte() * 16U));
  }
  void send_request(Input& input) {
    wire::RmaHeader header{};
    header.call = static_cast<std::uint8_t>(1 + input.byte() % 12);
    header.op = input.byte() % 20;
    header.flags = input.byte() % 32;
    header.slot = input.byte() % 10;
    header.tag = input.byte() % 8;
    header.element = static_cast<std::uint32_t>(input.number(1024));
    header.second = input.byte() < 32 ? input.byte() : 0;
    header.place = input.number(128) - 16;
    if (input.byte() >= 32) header.place = window_.place(header.place);
    header.count = input.number(4);
    std::vector<std::int64_t> words;
    const std::uint8_t kind = input.byte();
    if (kind % 4 == 0) {
      header.type = static_cast<std::uint32_t>(input.number(1024));
    } else {
      words = words_of(kind / 4, input);
    }
    header.type_words = static_cast<std::uint32_t>(words.size());
    if (kind == 255) header.type_words = static_cast<std::uint32_t>(input.number(1 << 20));
    const std::vector<std::byte> data = input.bytes(input.byte() % 64);
    header.bytes = input.byte() < 16 ? static_cast<std::uint64_t>(input.number(100)) : data.size();
    send(mpi::RmaLine::requests, 0, request_of(header, words, data));
  }

  OneProcess& process_;
  const Window& window_;
  Messages messages_;
};

/// A put and a flush of a rank that does everything right.
void put_honestly(OneProcess& process, const Window& window) {
  constexpr std::byte value{0x5a};
  wire::RmaHeader put{};
  put.call = static_cast<std::uint8_t>(RmaCall::put);
  put.flags = wire::rma_inline;
  put.type = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(MPI_BYTE));
  put.place = window.place(7);
  put.count = 1;
  put.bytes = 1;
  wire::RmaHeader flush{};
  flush.call = static_cast<std::uint8_t>(RmaCall::flush);
  flush.tag = 3;
  constexpr std::uint32_t requests = line_of(mpi::RmaLine::requests);
  const auto first =
      process.send(OneProcess::honest, requests, 0, request_of(put, {}, {&value, 1}));
  const auto second = process.send(OneProcess::honest, requests, 0, request_of(flush, {}, {}));
  const auto answer =
      process.receive(OneProcess::honest, line_of(mpi::RmaLine::answers), 3, sizeof(wire::RmaAck));
  process.go_on_until([&] { return answer->done(); });
  wire::RmaAck ack{};
  std::memcpy(&ack, answer->memory.data(), sizeof ack);
  if (ack.error != 0 || window.half()[7] != value) std::abort();
}

}  // namespace

void rma_requests(std::span<const std::uint8_t> bytes) {
  OneProcess process;
  Input input(bytes);
  const bool dynamic = input.byte() % 4 == 1;
  Window window(process, dynamic);
  HostileOrigin origin(process, window);
  while (!input.empty()) {
    origin.step(input);
    process.cluster.step(2);
  }
  put_honestly(process, window);
  process.end_hostile();
  // Nothing waits any more for what the rank that has failed would have sent or taken.
  process.go_on_until([&] { return window.win().busy == 0; });
  process.cluster.device(0).progress();
}

}  // namespace fulmar::fuzz
