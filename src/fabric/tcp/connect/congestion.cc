// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/connect/congestion.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/os/fd.h"

namespace fulmar::fabric::tcp {
namespace {

constexpr std::size_t longest_name = 16;  // TCP_CA_NAME_MAX of linux/tcp.h
constexpr std::array<const char*, 2> unpaced = {"cubic", "reno"};

bool set(int socket, std::string_view name) noexcept {
  return ::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(),
                      static_cast<socklen_t>(name.size())) == 0;
}

std::string standard_of(int socket) {
  std::array<char, longest_name + 1> name{};
  socklen_t length = longest_name;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length) != 0) return {};
  return name.data();
}

std::string allowed_ones() {
  std::ifstream file("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
  std::string names;
  std::getline(file, names);
  return names;
}

}  // namespace

std::span<const char* const> CongestionControl::instead_of(std::string_view standard) noexcept {
  if (standard.starts_with("bbr")) return unpaced;
  return {};
}

base::Result<CongestionControl> CongestionControl::choose(const std::string& wish) {
  CongestionControl chosen;
  if (wish == "system") return chosen;
  base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!socket.valid()) {
    socket = base::UniqueFd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
  }
  if (!wish.empty() && wish != "auto") {
    if (socket.valid() && !set(socket.get(), wish)) {
      const int problem = errno;
      return base::failure(
          base::ErrorClass::arg,
          "FULMAR_TCP_CONGESTION=%s: the kernel says \"%s\"; write auto, system, or "
          "one of those that everybody may use: %s",
          wish.c_str(), std::strerror(problem), allowed_ones().c_str());
    }
    chosen.name_ = wish;
    return chosen;
  }
  if (!socket.valid()) return chosen;  // listening fails, too, and says why
  for (const char* const name : instead_of(standard_of(socket.get()))) {
    if (!set(socket.get(), name)) continue;
    chosen.name_ = name;
    break;
  }
  return chosen;
}

void CongestionControl::apply(int socket) const noexcept {
  // An improvement; a network name space that allows less than the one it was chosen in works, too.
  if (!name_.empty()) (void)set(socket, name_);
}

}  // namespace fulmar::fabric::tcp
