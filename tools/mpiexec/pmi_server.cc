// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/pmi_server.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace fulmar::mpiexec {
namespace {

/// Of all keys and values: far above what start-up needs, far below what hurts.
constexpr std::size_t most_value_bytes = std::size_t{256} << 20;
constexpr std::size_t longest_key = 256;
constexpr std::size_t longest_value = 1024;

}  // namespace

PmiServer::PmiServer(Poller& poller, std::span<wire::RankRecord> records, std::uint32_t job_id)
    : poller_(poller),
      records_(records),
      clients_(records.size()),
      space_("fulmar_" + std::to_string(job_id)) {
  values_.emplace("PMI_process_mapping",
                  wire::one_node_mapping(static_cast<std::uint32_t>(records.size())));
}

base::Result<base::UniqueFd> PmiServer::connect_rank(std::uint32_t rank) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return base::failure(base::ErrorClass::other,
                         "cannot make a socket for rank %u: %s; raise the limit of open files "
                         "(ulimit -n)",
                         rank, std::strerror(errno));
  }
  clients_[rank].socket.reset(ends[0]);
  (void)poller_.add(ends[0], EPOLLIN, {SourceKind::pmi, rank});
  return base::UniqueFd(ends[1]);
}

void PmiServer::drop(std::uint32_t rank) {
  Client& client = clients_[rank];
  if (!client.socket.valid()) return;
  poller_.remove(client.socket.get());
  client.socket.reset();
  client.unread.clear();
}

void PmiServer::on_rank(std::uint32_t rank) {
  Client& client = clients_[rank];
  if (!client.socket.valid()) return;
  std::array<char, 4096> piece;
  const ssize_t bytes = ::recv(client.socket.get(), piece.data(), piece.size(), MSG_DONTWAIT);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (bytes > 0) client.unread.append(piece.data(), static_cast<std::size_t>(bytes));
  if (bytes <= 0 || !take_lines(rank)) drop(rank);
}

/// False when the connection is of no more use.
bool PmiServer::take_lines(std::uint32_t rank) {
  Client& client = clients_[rank];
  std::size_t begin = 0;
  std::size_t end = 0;
  while ((end = client.unread.find('\n', begin)) != std::string::npos) {
    const std::string text = client.unread.substr(begin, end - begin);
    begin = end + 1;
    if (client.in_block) {
      if (text != "endcmd") continue;
      client.in_block = false;
      if (!answer(rank, "cmd=spawn_result rc=-1 status=-1 msg=spawn_is_not_supported"))
        return false;
      continue;
    }
    const auto line = wire::PmiLine::parse(text);
    if (line.failed() || !obey(rank, line.value())) return false;
  }
  client.unread.erase(0, begin);
  return client.unread.size() < wire::pmi_line_limit;
}

/// A rank that asks reads its answer, so there is room for it in the socket.
bool PmiServer::answer(std::uint32_t rank, const std::string& line) {
  const std::string text = line + "\n";
  return ::send(clients_[rank].socket.get(), text.data(), text.size(),
                MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

bool PmiServer::obey(std::uint32_t rank, const wire::PmiLine& line) {
  const std::string_view command = line.command();
  if (command == "init") {
    set_state(rank, wire::RankState::initialised);
    const bool known = line.number("pmi_version") == 1;
    return answer(rank, std::string("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=") +
                            (known ? "0" : "-1"));
  }
  if (command == "get_maxes") {
    return answer(rank, "cmd=maxes kvsname_max=256 keylen_max=" + std::to_string(longest_key) +
                            " vallen_max=" + std::to_string(longest_value));
  }
  if (command == "get_appnum") {
    return answer(rank, "cmd=appnum appnum=" + std::to_string(records_[rank].appnum));
  }
  if (command == "get_my_kvsname") {
    return answer(rank, "cmd=my_kvsname kvsname=" + space_);
  }
  if (command == "get_universe_size") {
    return answer(rank, "cmd=universe_size size=" + std::to_string(clients_.size()));
  }
  if (command == "put") return put(rank, line);
  if (command == "get") return get(rank, line);
  if (command == "barrier_in") return enter_barrier(rank);
  if (command == "finalize") {
    set_state(rank, wire::RankState::finalized);
    return answer(rank, "cmd=finalize_ack");
  }
  if (command == "abort") {
    abort(rank, line);
    return true;
  }
  if (command == "spawn") {
    clients_[rank].in_block = true;
    return true;
  }
  return answer(rank,
                "cmd=" + std::string(command.substr(0, 64)) + "_result rc=-1 msg=not_supported");
}

bool PmiServer::put(std::uint32_t rank, const wire::PmiLine& line) {
  const std::string key(line.find("key").value_or(""));
  const std::string value(line.find("value").value_or(""));
  if (key.empty() || key.size() > longest_key || value.size() > longest_value) {
    return answer(rank, "cmd=put_result rc=-1 msg=too_long");
  }
  value_bytes_ += key.size() + value.size();
  if (value_bytes_ > most_value_bytes) return answer(rank, "cmd=put_result rc=-1 msg=no_room");
  values_.insert_or_assign(key, value);
  return answer(rank, "cmd=put_result rc=0 msg=success");
}

bool PmiServer::get(std::uint32_t rank, const wire::PmiLine& line) {
  const auto entry = values_.find(std::string(line.find("key").value_or("")));
  if (entry == values_.end())
    return answer(rank, "cmd=get_result rc=-1 msg=key_not_found value=unknown");
  return answer(rank, "cmd=get_result rc=0 msg=success value=" + entry->second);
}

bool PmiServer::enter_barrier(std::uint32_t rank) {
  if (std::exchange(clients_[rank].in_barrier, true)) return false;
  if (++arrived_ < clients_.size()) return true;
  arrived_ = 0;
  for (std::uint32_t other = 0; other < clients_.size(); ++other) {
    clients_[other].in_barrier = false;
    if (other != rank && clients_[other].socket.valid() && !answer(other, "cmd=barrier_out")) {
      drop(other);
    }
  }
  return answer(rank, "cmd=barrier_out");
}

/// The supervisor checks the records after every line.
void PmiServer::abort(std::uint32_t rank, const wire::PmiLine& line) {
  records_[rank].abort_code.store(static_cast<int>(line.number("exitcode").value_or(1)),
                                  std::memory_order_relaxed);
  set_state(rank, wire::RankState::aborted);
}

void PmiServer::set_state(std::uint32_t rank, wire::RankState state) {
  records_[rank].state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
}

}  // namespace fulmar::mpiexec
