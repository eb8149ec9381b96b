// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/spawn/foreign_service.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>

#include "base/clock.h"
#include "runtime/spawn/mpiexec_service.h"
#include "wire/launch/spawn_info.h"

namespace fulmar::runtime {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

/// Keys that are not for the launcher.
bool is_own_key(const std::string& key) {
  constexpr std::array<std::string_view, 5> own = {"file", "soft", "env", "wdir",
                                                   "mpi_initial_errhandler"};
  return std::find(own.begin(), own.end(), key) != own.end();
}

bool is_program(const std::string& file) {
  struct stat status{};
  return ::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(file.c_str(), X_OK) == 0;
}

/// Keys that may lead to a host that has other files.
bool names_hosts(const bootstrap::StartOrder& order) {
  constexpr std::array<std::string_view, 5> keys = {"host", "hosts", "hostfile", "add-host",
                                                    "add-hostfile"};
  return std::any_of(keys.begin(), keys.end(), [&](std::string_view key) {
    return wire::info_value(order.info, key).has_value();
  });
}

}  // namespace

bool is_there(const bootstrap::StartOrder& order) {
  if (order.program.find('/') != std::string::npos) {
    return is_program(wire::from_folder(order.folder, order.program));
  }
  const char* const path = std::getenv("PATH");
  std::string rest = wire::info_value(order.info, "path").value_or("") + ":" +
                     (path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path) + ":" + order.folder;
  while (!rest.empty()) {
    const std::string part = rest.substr(0, rest.find(':'));
    rest.erase(0, part.size() + 1);
    if (!part.empty() && is_program(part + "/" + order.program)) return true;
  }
  return false;
}

std::string working_folder() {
  std::string folder(PATH_MAX, '\0');
  if (::getcwd(folder.data(), folder.size()) == nullptr) return {};
  folder.resize(folder.find('\0'));
  return folder;
}

base::Result<bootstrap::StartOrder> order_of(const mpi::SpawnCommand& command,
                                             const std::string& folder) {
  const auto info = wire::with_info_file(command.info, folder);
  if (info.failed()) return info.error();
  const auto count = wire::soft_count(info.value(), static_cast<std::uint32_t>(command.processes));
  if (count.failed()) return count.error();
  auto environment = wire::info_environment(info.value());
  if (environment.failed()) return environment.error();
  if (count.value() == 0) {
    return failure(ErrorClass::spawn, "0 processes of \"%.100s\" cannot be spawned",
                   command.program.c_str());
  }
  bootstrap::StartOrder order;
  order.program = command.program;
  order.arguments = command.arguments;
  order.processes = count.value();
  order.environment = std::move(*environment);
  order.folder = wire::from_folder(folder, wire::info_value(info.value(), "wdir").value_or(folder));
  for (const auto& entry : info.value()) {
    if (!is_own_key(entry.first)) order.info.push_back(entry);
  }
  return order;
}

base::Result<std::vector<int>> ForeignService::spawn(const std::vector<mpi::SpawnCommand>& commands,
                                                     std::string_view parent_port) {
  const std::string folder = working_folder();
  std::vector<bootstrap::StartOrder> orders;
  std::vector<int> codes;
  for (const mpi::SpawnCommand& command : commands) {
    auto order = order_of(command, folder);
    if (order.failed()) return order.error();
    const auto wanted = static_cast<std::size_t>(command.processes);
    if (limits_.one_node && !names_hosts(*order) && !is_there(*order)) {
      return failure(ErrorClass::spawn, "cannot start \"%.200s\": there is no such program",
                     command.program.c_str());
    }
    codes.insert(codes.end(), order->processes, 0);
    codes.insert(codes.end(), wanted - order->processes, static_cast<int>(ErrorClass::spawn));
    orders.push_back(std::move(*order));
  }
  if (const Error error = launcher_.spawn(orders, parent_port); error.failed()) return error;
  spawned_ns_.insert_or_assign(std::string(parent_port), base::now_ns());
  return codes;
}

std::string ForeignService::spawned_job_ended(std::string_view parent_port) {
  const auto spawned = spawned_ns_.find(parent_port);
  if (spawned == spawned_ns_.end() || limits_.connect_ns == 0) return {};
  if (base::now_ns() - spawned->second < limits_.connect_ns) return {};
  return "the spawned processes have not connected within " +
         std::to_string(limits_.connect_ns / 1'000'000'000) + " s (" + option_spawn_timeout +
         "); has one ended before MPI_Init, or was the program not there? The launcher does not "
         "tell";
}

void ForeignService::forget_spawned_job(std::string_view parent_port) {
  const auto spawned = spawned_ns_.find(parent_port);
  if (spawned != spawned_ns_.end()) spawned_ns_.erase(spawned);
}

/// A launcher may start its processes by a program that passes variables on.
std::string ForeignService::parent_port() {
  std::string port = launcher_.parent_port();
  return port.empty() ? parent_port_in_environment() : port;
}

Error ForeignService::publish(std::string_view service, std::string_view port,
                              const std::vector<mpi::InfoEntry>& /*info*/) {
  return launcher_.publish_name(service, port);
}

base::Result<std::string> ForeignService::lookup(std::string_view service,
                                                 const std::vector<mpi::InfoEntry>& /*info*/) {
  return launcher_.lookup_name(service);
}

Error ForeignService::unpublish(std::string_view service, std::string_view /*port*/,
                                const std::vector<mpi::InfoEntry>& /*info*/) {
  return launcher_.unpublish_name(service);
}

}  // namespace fulmar::runtime
