// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/transport/node_segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/os/unix_socket.h"
#include "wire/node/job_file.h"
#include "wire/node/node_join.h"

namespace fulmar::device {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW;

Error no_memory(std::size_t bytes, const char* step, const char* remedy) {
  return failure(ErrorClass::no_mem, "%zu bytes of memory to share on this node: %s: %s; %s", bytes,
                 step, std::strerror(errno), remedy);
}

Error socket_failure(const char* call) {
  return failure(
      ErrorClass::other,
      "memory to share on this node: %s: %s; look at the limit of open files (ulimit -n)", call,
      std::strerror(errno));
}

bool same_user(int socket) noexcept {
  const auto peer = base::peer_of(socket);
  return peer && peer->uid == ::geteuid();
}

template <class Message>
bool is_segment_message(const Message& message) noexcept {
  return message.magic == wire::segment_offer_magic &&
         message.version == wire::segment_offer_version;
}

template <class Bytes>
bool draw(Bytes& bytes) noexcept {
  return ::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
}

}  // namespace

base::Result<NodeSegment> NodeSegment::make(std::size_t bytes) {
  base::UniqueFd file = wire::make_memory_file("fulmar-segment");
  if (!file.valid()) {
    return no_memory(bytes, "memfd_create", "look at the limit of open files (ulimit -n)");
  }
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) {
    return no_memory(bytes, "ftruncate", "raise the limit on file sizes (ulimit -f)");
  }
  if (::fcntl(file.get(), F_ADD_SEALS, size_seals | F_SEAL_SEAL) != 0) {
    return no_memory(bytes, "sealing", "the system has to allow seals of memory files");
  }
  return map(std::move(file), bytes);
}

base::Result<NodeSegment> NodeSegment::map(base::UniqueFd file, std::size_t bytes) {
  struct stat status{};
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  const bool is_sealed = seals >= 0 && (seals & size_seals) == size_seals;
  if (!is_sealed || ::fstat(file.get(), &status) != 0 ||
      static_cast<std::uint64_t>(status.st_size) != bytes) {
    return failure(ErrorClass::other,
                   "memory to share on this node: what was given is no sealed file of %zu bytes; "
                   "use the same version of Fulmar in all processes",
                   bytes);
  }
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  if (memory == MAP_FAILED) {
    return no_memory(bytes, "mmap", "raise the limit on address space (ulimit -v)");
  }
  return NodeSegment(std::move(file), {static_cast<std::byte*>(memory), bytes});
}

NodeSegment::NodeSegment(NodeSegment&& other) noexcept
    : file_(std::move(other.file_)), memory_(std::exchange(other.memory_, {})) {}

NodeSegment& NodeSegment::operator=(NodeSegment&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(memory_, other.memory_);
  return *this;
}

NodeSegment::~NodeSegment() {
  if (!memory_.empty()) ::munmap(memory_.data(), memory_.size());
}

base::Result<std::unique_ptr<SegmentOffer>> SegmentOffer::open(
    const NodeSegment& segment, std::vector<wire::ProcessName> expected) {
  wire::SegmentTicket ticket;
  if (!draw(ticket.name) || !draw(ticket.secret)) return socket_failure("getrandom");
  ticket.bytes = segment.memory().size();
  base::UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.valid()) return socket_failure("socket");
  const base::AbstractAddress address(wire::segment_socket_name(ticket));
  if (::bind(listener.get(), address.get(), address.size()) != 0) return socket_failure("bind");
  if (::listen(listener.get(), SOMAXCONN) != 0) return socket_failure("listen");
  constexpr std::size_t spare = 16;  // for connections of strangers
  const std::size_t most_silent = expected.size() + spare;
  std::unique_ptr<SegmentOffer> offer(
      new SegmentOffer(std::move(listener), ticket, segment.file(), std::move(expected)));
  offer->silent_.reserve(most_silent);
  return offer;
}

std::size_t SegmentOffer::serve() noexcept {
  std::erase_if(silent_, [this](const base::UniqueFd& client) {
    return answer(client.get()) == Hello::done;
  });
  while (!awaited_.empty()) {
    base::UniqueFd client(
        ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client.valid() && errno == EINTR) continue;
    if (!client.valid()) break;
    if (answer(client.get()) == Hello::due) keep(std::move(client));
  }
  if (awaited_.empty()) silent_.clear();
  return awaited_.size();
}

void SegmentOffer::keep(base::UniqueFd client) noexcept {
  if (silent_.size() == silent_.capacity()) silent_.erase(silent_.begin());
  silent_.push_back(std::move(client));
}

/// Gives the file to a client whose hello is right. A client may be accepted between its connect and
/// its send: then the hello is `due`.
SegmentOffer::Hello SegmentOffer::answer(int client) noexcept {
  if (!same_user(client)) return Hello::done;
  wire::SegmentHello hello;
  const ssize_t got = ::recv(client, &hello, sizeof hello, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Hello::due;
  if (got != static_cast<ssize_t>(sizeof hello)) return Hello::done;
  if (!is_segment_message(hello) || !wire::same_secret(hello.secret, ticket_.secret)) {
    return Hello::done;
  }
  const auto engine = static_cast<std::uint8_t>(hello.engine);
  const auto place = std::ranges::find(awaited_, wire::ProcessName{hello.job, hello.rank, engine});
  if (place == awaited_.end() || engine != hello.engine) return Hello::done;
  wire::SegmentGrant grant;
  grant.bytes = ticket_.bytes;
  const ssize_t sent =
      base::send_with_descriptor(client, std::as_bytes(std::span(&grant, 1)), file_, MSG_DONTWAIT);
  if (sent == static_cast<ssize_t>(sizeof grant)) awaited_.erase(place);
  return Hello::done;
}

base::Result<bool> SegmentRequest::ask() {
  socket_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_.valid()) return socket_failure("socket");
  const base::AbstractAddress address(wire::segment_socket_name(ticket_));
  if (::connect(socket_.get(), address.get(), address.size()) != 0) {
    if (errno == EAGAIN || errno == EINTR) return false;
    return socket_failure("connect");
  }
  if (!same_user(socket_.get())) {
    return failure(ErrorClass::other,
                   "memory to share on this node: another user offers it; start all processes of "
                   "the job as one user");
  }
  wire::SegmentHello hello;
  hello.job = self_.job;
  hello.rank = self_.rank;
  hello.engine = self_.engine;
  hello.secret = ticket_.secret;
  if (::send(socket_.get(), &hello, sizeof hello, MSG_NOSIGNAL) !=
      static_cast<ssize_t>(sizeof hello)) {
    return socket_failure("send");
  }
  return true;
}

base::Result<std::optional<NodeSegment>> SegmentRequest::take() {
  wire::SegmentGrant grant;
  base::Passed passed = base::receive_with_descriptor(
      socket_.get(), std::as_writable_bytes(std::span(&grant, 1)), MSG_DONTWAIT);
  if (passed.bytes < 0 && (errno == EAGAIN || errno == EINTR)) return std::optional<NodeSegment>();
  if (passed.bytes < 0) return socket_failure("recvmsg");
  if (passed.bytes != static_cast<ssize_t>(sizeof grant) || !is_segment_message(grant) ||
      grant.bytes != ticket_.bytes || !passed.descriptor.valid()) {
    return failure(ErrorClass::other,
                   "memory to share on this node: the process that made it does not hand it over; "
                   "look for a message of its own");
  }
  auto segment = NodeSegment::map(std::move(passed.descriptor), grant.bytes);
  if (segment.failed()) return segment.error();
  return std::optional<NodeSegment>(std::move(*segment));
}

}  // namespace fulmar::device
