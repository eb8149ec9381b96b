// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/transport/node_segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/os/unix_socket.h"
#include "fuzz/targets.h"

namespace fulmar::fuzz {
namespace {

constexpr std::size_t segment_bytes = 8192;
const wire::ProcessName expected{7, 1, 0};

/// `message`, with the bytes of the input over some of it. The first byte says how many and whether
/// the length differs.
template <class Message>
std::vector<std::byte> spoilt(const Message& message, std::span<const std::uint8_t> input) {
  std::vector<std::byte> bytes(sizeof message);
  std::memcpy(bytes.data(), &message, sizeof message);
  if (input.size() < 2) return bytes;
  const std::size_t at = input[0] % sizeof message;
  const std::size_t count = std::min(input.size() - 2, sizeof message - at);
  std::memcpy(bytes.data() + at, input.data() + 2, count);
  if (input[1] % 8 == 7) bytes.resize(input[1] / 2);
  return bytes;
}

base::UniqueFd connected_to(const wire::SegmentTicket& ticket) {
  base::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const base::AbstractAddress address(wire::segment_socket_name(ticket));
  if (::connect(socket.get(), address.get(), address.size()) != 0) std::abort();
  return socket;
}

/// A stranger asks, and then the process that is expected.
void ask(std::span<const std::uint8_t> input) {
  auto segment = device::NodeSegment::make(segment_bytes);
  if (segment.failed()) std::abort();
  auto offer = device::SegmentOffer::open(*segment, {expected});
  if (offer.failed()) std::abort();
  const wire::SegmentTicket& ticket = (*offer)->ticket();
  wire::SegmentHello hello;
  hello.job = expected.job;
  hello.rank = expected.rank;
  hello.secret = ticket.secret;
  const std::vector<std::byte> bytes = spoilt(hello, input);
  const bool is_right =
      bytes.size() >= sizeof hello && std::memcmp(bytes.data(), &hello, sizeof hello) == 0;
  const base::UniqueFd stranger = connected_to(ticket);
  (void)::send(stranger.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  const std::size_t left = (*offer)->serve();
  wire::SegmentGrant grant;
  const base::Passed passed = base::receive_with_descriptor(
      stranger.get(), std::as_writable_bytes(std::span(&grant, 1)), MSG_DONTWAIT);
  if (passed.descriptor.valid() != is_right || (left == 0) != is_right) std::abort();
  if (is_right) return;
  device::SegmentRequest request(ticket, expected);
  auto asked = request.ask();
  if (asked.failed() || !*asked || (*offer)->serve() != 0) std::abort();
  auto got = request.take();
  if (got.failed() || !got->has_value()) std::abort();
  if ((*got)->memory().size() != segment_bytes) std::abort();
}

/// A file that is handed over in the place of the segment; the bits of `kind` say what is wrong with
/// it.
base::UniqueFd file_of(std::uint8_t kind) {
  base::UniqueFd file(::memfd_create("fulmar-fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const std::size_t bytes = (kind & 1) != 0 ? segment_bytes / 2 : segment_bytes;
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) std::abort();
  const int seals = (kind & 2) != 0 ? F_SEAL_GROW : F_SEAL_GROW | F_SEAL_SHRINK;
  if (::fcntl(file.get(), F_ADD_SEALS, seals) != 0) std::abort();
  return file;
}

/// The maker answers with anything.
void take(std::span<const std::uint8_t> input) {
  wire::SegmentTicket ticket;
  ticket.bytes = segment_bytes;
  const auto pid = static_cast<std::uint32_t>(::getpid());
  std::memcpy(ticket.name.data(), &pid, sizeof pid);
  const base::UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const base::AbstractAddress address(wire::segment_socket_name(ticket));
  if (::bind(listener.get(), address.get(), address.size()) != 0 ||
      ::listen(listener.get(), 4) != 0) {
    std::abort();
  }
  device::SegmentRequest request(ticket, expected);
  if (request.ask().failed()) std::abort();
  base::UniqueFd maker(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  wire::SegmentGrant grant;
  grant.bytes = segment_bytes;
  const std::uint8_t kind = input.empty() ? 0 : input[0] / 32;
  const std::vector<std::byte> bytes =
      spoilt(grant, input.subspan(std::min<std::size_t>(1, input.size())));
  if ((kind & 4) != 0) {
    (void)::send(maker.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  } else {
    const base::UniqueFd file = file_of(kind);
    (void)base::send_with_descriptor(maker.get(), bytes, file.get(), MSG_NOSIGNAL);
  }
  maker.reset();
  // The word that has no meaning may be anything.
  std::vector<std::byte> known = bytes;
  if (known.size() >= 16) std::memset(known.data() + 12, 0, 4);
  const bool is_right = kind == 0 && known.size() >= sizeof grant &&
                        std::memcmp(known.data(), &grant, sizeof grant) == 0;
  auto got = request.take();
  if ((got.ok() && got->has_value()) != is_right) std::abort();
  if (is_right && (*got)->memory().size() != segment_bytes) std::abort();
}

}  // namespace

void node_segment(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  if (input[0] % 2 == 0) return ask(input.subspan(1));
  take(input.subspan(1));
}

}  // namespace fulmar::fuzz
