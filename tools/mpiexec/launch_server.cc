// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/launch_server.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/os/unix_socket.h"

namespace fulmar::mpiexec {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using wire::LaunchAnswer;
using wire::LaunchFrame;
using wire::LaunchKind;

/// A hello, and nothing else, fits.
constexpr std::size_t stranger_body_limit = 64;
/// What a client may leave unread of what it was sent: it asks one thing at a time.
constexpr std::size_t most_unsent_bytes = std::size_t{4} << 20;
/// The descriptor of a job process that leads to its server.
constexpr int report_number = 3;
/// Those that are forgotten are not reported as what another job waits for.
constexpr std::size_t most_gone_jobs = 65536;

bool draw_address(wire::LaunchAddress& address) {
  std::array<std::uint8_t, 16> bits;
  if (::getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size()) ||
      ::getrandom(address.secret.data(), address.secret.size(), 0) !=
          static_cast<ssize_t>(address.secret.size())) {
    return false;
  }
  address.name = wire::launch_name_prefix;
  for (const std::uint8_t byte : bits) {
    address.name += "0123456789abcdef"[byte >> 4];
    address.name += "0123456789abcdef"[byte & 15];
  }
  return true;
}

/// In a time that does not depend on where they differ.
bool same_secret(const wire::LaunchSecret& one, const wire::LaunchSecret& other) {
  std::uint8_t difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    difference = static_cast<std::uint8_t>(difference | (one[i] ^ other[i]));
  }
  return difference == 0;
}

LaunchAnswer answer_of(const Error& error) { return {error.code(), error.text(), {}}; }

/// False: the other end has gone. What is there is appended.
bool receive(int socket, wire::LaunchReader& reader) {
  std::array<char, 16384> piece;
  const ssize_t bytes = ::recv(socket, piece.data(), piece.size(), MSG_DONTWAIT);
  if (bytes < 0) return errno == EAGAIN || errno == EINTR;
  reader.append({piece.data(), static_cast<std::size_t>(bytes)});
  return bytes > 0;
}

}  // namespace

Error LaunchServer::open() {
  base::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid() || !draw_address(address_)) {
    return failure(ErrorClass::other, "cannot make the socket of the spawn service: %s",
                   std::strerror(errno));
  }
  const base::AbstractAddress name(address_.name);
  if (::bind(fd.get(), name.get(), name.size()) != 0 || ::listen(fd.get(), SOMAXCONN) != 0 ||
      !poller_.add(fd.get(), EPOLLIN, {SourceKind::launch_door, 0})) {
    return failure(ErrorClass::other, "cannot listen for requests to spawn: %s",
                   std::strerror(errno));
  }
  listener_ = std::move(fd);
  address_text_ = wire::launch_address_text(address_);
  return {};
}

void LaunchServer::adopt(base::UniqueFd socket) {
  Client& client = clients_[add_client(std::move(socket))];
  client.is_adopted = true;
  client.known = true;
  client.reader.set_body_limit(wire::launch_body_limit);
  adopted_ = Adopted::here;
}

std::uint32_t LaunchServer::add_client(base::UniqueFd socket) {
  const std::uint32_t index = next_client_++;
  (void)poller_.add(socket.get(), EPOLLIN, {SourceKind::launch_client, index});
  Client client;
  client.socket = std::move(socket);
  client.reader.set_body_limit(stranger_body_limit);
  clients_.emplace(index, std::move(client));
  return index;
}

/// One connection a turn; the poller is level-triggered.
void LaunchServer::on_door() {
  if (strangers_ >= most_strangers || clients_.size() >= most_clients) {
    poller_.change(listener_.get(), 0, {SourceKind::launch_door, 0});
    door_closed_ = true;
    return;
  }
  base::UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd.valid()) return;
  const auto peer = base::peer_of(fd.get());
  if (!peer.has_value() || peer->uid != ::geteuid()) {
    hooks_.say("mpiexec: refused process " + std::to_string(peer ? peer->pid : 0) +
               ", which is another user's, the spawn service");
    return;
  }
  Client& client = clients_[add_client(std::move(fd))];
  client.deadline_ns = now_ns() + hello_limit_ns;
  ++strangers_;
}

void LaunchServer::drop(std::uint32_t index) {
  const auto entry = clients_.find(index);
  if (entry == clients_.end()) return;
  const Client& client = entry->second;
  poller_.remove(client.socket.get());
  if (!client.known) --strangers_;
  if (client.is_adopted) adopted_ = client.left ? Adopted::left : Adopted::lost;
  clients_.erase(entry);
  names_.forget(index);
  if (door_closed_) poller_.change(listener_.get(), EPOLLIN, {SourceKind::launch_door, 0});
  door_closed_ = false;
}

void LaunchServer::on_client(std::uint32_t index) {
  const auto entry = clients_.find(index);
  if (entry == clients_.end()) return;  // dropped earlier in this turn
  Client& client = entry->second;
  if (!flush(index, client)) return drop(index);
  const bool open = receive(client.socket.get(), client.reader);
  while (true) {
    const auto frame = client.reader.next();
    if (frame.failed()) return drop(index);
    if (!frame.value().has_value()) break;
    if (!obey(index, *frame.value())) return drop(index);
    if (!clients_.contains(index)) return;
  }
  if (!open) drop(index);
}

/// False: the connection is to be closed.
bool LaunchServer::obey(std::uint32_t index, const LaunchFrame& frame) {
  Client& client = clients_.at(index);
  if (!client.known || frame.kind == LaunchKind::hello) {
    if (!greet(client, frame)) return false;
    if (!std::exchange(client.known, true)) --strangers_;
    client.deadline_ns = never_ns;
    client.reader.set_body_limit(wire::launch_body_limit);
    return true;
  }
  switch (frame.kind) {
    case LaunchKind::spawn:
      spawn(index, frame);
      return true;
    case LaunchKind::publish:
    case LaunchKind::lookup:
    case LaunchKind::unpublish: {
      auto result = wire::answer_about_name(names_, frame, {index, client.job});
      if (result.failed()) return false;
      answer(index, frame.request, result.value());
      return true;
    }
    case LaunchKind::bye:
      client.left = true;
      return true;
    default:
      return false;
  }
}

/// The first frame of a stranger; an adopted process says which job it is.
bool LaunchServer::greet(Client& client, const LaunchFrame& frame) const {
  const auto hello =
      frame.kind == LaunchKind::hello ? wire::decode_hello(frame.body) : std::nullopt;
  if (!hello || (!client.is_adopted && !same_secret(hello->secret, address_.secret))) return false;
  client.job = hello->job;
  return true;
}

void LaunchServer::send(std::uint32_t index, const std::string& frame) {
  const auto entry = clients_.find(index);
  if (entry == clients_.end()) return;  // it has gone meanwhile
  entry->second.unsent += frame;
  if (!flush(index, entry->second) || entry->second.unsent.size() > most_unsent_bytes) drop(index);
}

/// False: the connection is to be closed.
bool LaunchServer::flush(std::uint32_t index, Client& client) {
  if (client.unsent.empty()) return true;
  const ssize_t bytes = ::send(client.socket.get(), client.unsent.data(), client.unsent.size(),
                               MSG_DONTWAIT | MSG_NOSIGNAL);
  if (bytes < 0 && errno != EAGAIN && errno != EINTR) return false;
  if (bytes > 0) client.unsent.erase(0, static_cast<std::size_t>(bytes));
  const std::uint32_t events = client.unsent.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT;
  poller_.change(client.socket.get(), events, {SourceKind::launch_client, index});
  return true;
}

void LaunchServer::answer(std::uint32_t index, std::uint32_t request, const LaunchAnswer& answer) {
  send(index, encode_frame(LaunchKind::answer, request, encode_body(answer)));
}

void LaunchServer::spawn(std::uint32_t index, const LaunchFrame& frame) {
  auto order = wire::decode_spawn(frame.body);
  const Error error = !order.has_value() || order->programs.empty()
                          ? failure(ErrorClass::spawn, "a request to spawn cannot be read")
                          : start(index, frame.request, std::move(*order));
  if (error.failed()) answer(index, frame.request, answer_of(error));
}

/// Forks the process of the job. The answer to the client comes when that has started its ranks.
Error LaunchServer::start(std::uint32_t index, std::uint32_t request, wire::LaunchSpawn spawn) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return failure(
        ErrorClass::spawn,
        "mpiexec cannot make a socket for another job: %s; raise its limit of open files "
        "(ulimit -n)",
        std::strerror(errno));
  }
  base::UniqueFd own(ends[0]);
  base::UniqueFd report(ends[1]);
  SpawnedJob job;
  job.client = index;
  job.request = request;
  job.parent_port = spawn.parent_port;
  for (const wire::LaunchProgram& program : spawn.programs) job.processes += program.processes;
  std::uint32_t running = 0;
  for (const auto& [other, known] : jobs_) running += known.processes;
  const std::uint32_t number = next_job_++;
  const pid_t parent = ::getpid();
  job.pid = ::fork();
  if (job.pid == 0) {
    become_job({std::move(spawn), number, running, report_number, address_text_}, std::move(report),
               parent);
  }
  if (job.pid < 0) {
    return failure(ErrorClass::spawn,
                   "mpiexec cannot start a process for another job: %s; raise the limit of "
                   "processes (ulimit -u)",
                   std::strerror(errno));
  }
  (void)poller_.add(own.get(), EPOLLIN, {SourceKind::launch_job, number});
  job.report = std::move(own);
  jobs_.emplace(number, std::move(job));
  return {};
}

/// In a process group of its own: what a terminal sends to that of the first mpiexec is passed on
/// by it, once. Nothing of the first job stays open; its memory is not inherited (job_segment.cc).
void LaunchServer::become_job(const Order& order, base::UniqueFd report, pid_t parent) const {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (report.get() != report_number && ::dup3(report.get(), report_number, O_CLOEXEC) < 0)
    ::_exit(1);
  ::syscall(SYS_close_range, report_number + 1, ~0U, 0U);
  if (report.get() == report_number) (void)report.release();
  const int exit_code = hooks_.run_job(order);
  const std::string ended =
      encode_frame(LaunchKind::job_ended, 0, encode_body(wire::LaunchJobEnded{{}, exit_code}));
  (void)!::send(report_number, ended.data(), ended.size(), MSG_NOSIGNAL);
  ::_exit(exit_code);
}

void LaunchServer::on_job(std::uint32_t number) {
  const auto entry = jobs_.find(number);
  if (entry == jobs_.end()) return;
  SpawnedJob& job = entry->second;
  const bool open = receive(job.report.get(), job.reader);
  while (true) {
    const auto frame = job.reader.next();
    if (frame.failed() || !frame.value().has_value()) break;
    take_report(number, *frame.value());
  }
  if (!open) end_job(number);
}

void LaunchServer::take_report(std::uint32_t number, const LaunchFrame& frame) {
  SpawnedJob& job = jobs_.at(number);
  if (frame.kind == LaunchKind::answer && !std::exchange(job.answered, true)) {
    send(job.client, encode_frame(LaunchKind::answer, job.request, frame.body));
    const auto answer = wire::decode_answer(frame.body);
    // Only the process that has spawned it gets the error of a job that could not be started.
    if (answer && answer->error_class != 0) job.exit_code = 0;
  } else if (frame.kind == LaunchKind::job_ended) {
    const auto ended = wire::decode_job_ended(frame.body);
    if (ended && job.exit_code < 0) job.exit_code = ended->exit_code;
  } else if (frame.kind == LaunchKind::stillness) {
    auto stillness = wire::decode_stillness(frame.body);
    if (stillness) note_stillness(job, std::move(*stillness));
  }
}

/// A generation that is not told of any more has ended.
void LaunchServer::note_stillness(SpawnedJob& job, wire::LaunchStillness stillness) {
  if (gone_jobs_.size() > most_gone_jobs) gone_jobs_.clear();
  for (const wire::JobStillness& before : job.stillness) gone_jobs_.insert(before.job);
  for (const wire::JobStillness& now : stillness) gone_jobs_.erase(now.job);
  job.stillness = std::move(stillness);
}

void LaunchServer::add_spawned_jobs(std::vector<WatchedJob>& jobs) const {
  for (const auto& [number, job] : jobs_) {
    for (const wire::JobStillness& stillness : job.stillness) {
      jobs.push_back({"spawned job " + std::to_string(number), stillness});
    }
  }
}

/// The process of the job has closed its end, so it is about to end, or was killed.
void LaunchServer::end_job(std::uint32_t number) {
  SpawnedJob job = std::move(jobs_.at(number));
  jobs_.erase(number);
  note_stillness(job, {});
  poller_.remove(job.report.get());
  ::waitpid(job.pid, nullptr, 0);
  if (job.exit_code < 0) job.exit_code = 128 + SIGKILL;
  if (!job.answered) {
    answer(job.client, job.request,
           answer_of(failure(ErrorClass::spawn,
                             "the process of mpiexec that was to start the job "
                             "has ended; see its messages")));
  }
  const wire::LaunchJobEnded ended{job.parent_port, job.exit_code};
  send(job.client, encode_frame(LaunchKind::job_ended, 0, encode_body(ended)));
  if (job.exit_code != 0) hooks_.on_failure(number, job.exit_code);
}

void LaunchServer::forward(int signal) const {
  for (const auto& [number, job] : jobs_) ::kill(job.pid, signal);
}

std::int64_t LaunchServer::deadline() const {
  if (strangers_ == 0) return never_ns;
  std::int64_t first = never_ns;
  for (const auto& [index, client] : clients_) first = std::min(first, client.deadline_ns);
  return first;
}

void LaunchServer::on_time(std::int64_t now) {
  if (strangers_ == 0) return;
  std::vector<std::uint32_t> late;
  for (const auto& [index, client] : clients_) {
    if (now >= client.deadline_ns) late.push_back(index);
  }
  for (const std::uint32_t index : late) drop(index);
}

}  // namespace fulmar::mpiexec
