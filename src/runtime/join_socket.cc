// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/join_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "base/clock.h"
#include "base/os/unix_socket.h"
#include "wire/node/job.h"
#include "wire/node/join.h"

namespace fulmar::runtime {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

/// Of one system call: mpiexec answers in microseconds unless it is stopped or the machine is full.
constexpr int longest_join_s = 60;

Error socket_failure(const char* step) {
  if (errno == EAGAIN || errno == EINPROGRESS) errno = ETIMEDOUT;
  return failure(ErrorClass::other,
                 "the job's memory cannot be got from mpiexec: %s: %s; the descriptor in %s was "
                 "closed by a wrapper or used by an earlier program, and %s needs mpiexec to be "
                 "alive and in the same network name space",
                 step, std::strerror(errno), wire::env_job_fd, wire::env_job_socket);
}

/// Repeats a call that a signal interrupted; each has a time limit of its own, and the signals of a
/// profiler shall not make it endless.
template <class Call>
auto without_interruption(Call call) {
  const std::uint64_t end = base::now_ns() + std::uint64_t{longest_join_s} * 1'000'000'000;
  auto result = call();
  while (result < 0 && errno == EINTR && base::now_ns() < end) result = call();
  return result;
}

base::Result<base::UniqueFd> connect_to(std::string_view name) {
  base::UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return socket_failure("socket");
  const timeval patience{longest_join_s, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const base::AbstractAddress address(name);
  const int result =
      without_interruption([&] { return ::connect(fd.get(), address.get(), address.size()); });
  if (result != 0) return socket_failure("connect");
  return fd;
}

/// The process that called listen(); it must be the same user's.
base::Result<pid_t> listener_of(int fd) {
  const auto peer = base::peer_of(fd);
  if (!peer.has_value()) return socket_failure("SO_PEERCRED");
  if (peer->uid != ::geteuid()) {
    return failure(ErrorClass::other,
                   "%s leads to process %d of user %u, this process is user %u's; run the whole "
                   "job as one user",
                   wire::env_job_socket, peer->pid, peer->uid, ::geteuid());
  }
  return peer->pid;
}

/// The error for an answer without a descriptor.
Error refusal(const wire::JoinMessage& answer, std::uint32_t rank) {
  switch (static_cast<wire::JoinStep>(answer.step)) {
    case wire::JoinStep::in_use:
      return failure(ErrorClass::other,
                     "rank %u of the job is or was process %d, which has not called MPI_Finalize; "
                     "unset %s and %s in what a rank starts, or start it with mpiexec",
                     rank, answer.holder, wire::env_job_fd, wire::env_job_socket);
    case wire::JoinStep::still_alive:
      return failure(ErrorClass::other,
                     "rank %u of the job is process %d, which has called MPI_Finalize but has not "
                     "ended; another process can be the rank after that only, or unset %s and %s "
                     "to run it alone",
                     rank, answer.holder, wire::env_job_fd, wire::env_job_socket);
    case wire::JoinStep::no_segment:
      return failure(ErrorClass::other,
                     "mpiexec could not make the memory for another MPI program of rank %u; see "
                     "its message",
                     rank);
    default:
      return failure(ErrorClass::other,
                     "no descriptor came with mpiexec's answer; raise the limit of open files "
                     "(ulimit -n)");
  }
}

base::Result<base::UniqueFd> receive_segment(int fd, std::uint32_t rank) {
  wire::JoinMessage answer;
  base::UniqueFd segment;
  const ssize_t bytes = without_interruption([&] {
    base::Passed passed =
        base::receive_with_descriptor(fd, std::as_writable_bytes(std::span(&answer, 1)), 0);
    segment = std::move(passed.descriptor);
    return passed.bytes;
  });
  if (bytes < 0 && errno != ECONNRESET) return socket_failure("recvmsg");
  if (bytes <= 0) {
    return failure(ErrorClass::other,
                   "mpiexec refuses this process the job's memory: it is no descendant of a rank; "
                   "unset %s and %s to run alone",
                   wire::env_job_fd, wire::env_job_socket);
  }
  if (answer.magic != wire::join_magic || answer.version != wire::join_version ||
      bytes != static_cast<ssize_t>(sizeof answer)) {
    return failure(ErrorClass::other,
                   "mpiexec speaks version %u of the join exchange, this library version %u; use "
                   "mpiexec and library of one installation",
                   answer.version, wire::join_version);
  }
  if (!segment.valid()) return refusal(answer, rank);
  return segment;
}

}  // namespace

bool is_sealed_memory(int descriptor) noexcept {
  constexpr int needed = F_SEAL_SHRINK | F_SEAL_GROW;
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  return seals >= 0 && (seals & needed) == needed;
}

base::Result<JoinTicket> ask_for_segment(std::string_view name, std::uint32_t rank) {
  if (name.size() != wire::join_name_bytes || !name.starts_with(wire::join_name_prefix)) {
    return failure(ErrorClass::other, "%s is \"%.*s\", which is no name that mpiexec gives",
                   wire::env_job_socket, static_cast<int>(std::min<std::size_t>(name.size(), 64)),
                   name.data());
  }
  auto fd = connect_to(name);
  if (fd.failed()) return fd.error();
  const auto listener = listener_of(fd->get());
  if (listener.failed()) return listener.error();
  const wire::JoinMessage hello = wire::join_message(wire::JoinStep::hello, rank);
  const ssize_t sent =
      without_interruption([&] { return ::send(fd->get(), &hello, sizeof hello, MSG_NOSIGNAL); });
  // A listener that refuses closes at once; the answer, or its absence, explains more than EPIPE.
  if (sent < 0 && errno != EPIPE && errno != ECONNRESET) return socket_failure("send");
  auto segment = receive_segment(fd->get(), rank);
  if (segment.failed()) return segment.error();
  if (!is_sealed_memory(segment->get())) {
    return failure(ErrorClass::other, "what %s gives is no sealed memory file of mpiexec",
                   wire::env_job_socket);
  }
  return JoinTicket{std::move(*segment), listener.value()};
}

}  // namespace fulmar::runtime
