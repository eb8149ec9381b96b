// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/spawn/mpiexec_service.h"

#include <cstdlib>
#include <utility>

#include "runtime/spawn/foreign_service.h"

namespace fulmar::runtime {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using wire::LaunchKind;

Error error_of(const wire::LaunchAnswer& answer) {
  if (answer.error_class == 0) return {};
  return failure(static_cast<ErrorClass>(answer.error_class), "%s", answer.text.c_str());
}

}  // namespace

std::string parent_port_in_environment() {
  const char* port = std::getenv(wire::env_parent_port);
  return port == nullptr ? std::string() : std::string(port);
}

MpiexecService::~MpiexecService() {
  if (client_) client_->say_bye();
}

Error MpiexecService::connect() {
  if (client_) return {};
  auto connected = connect_();
  if (connected.ok()) client_.emplace(std::move(*connected));
  return connected.error();
}

base::Result<wire::LaunchAnswer> MpiexecService::ask(LaunchKind kind, std::string_view body,
                                                     int limit_ms) {
  if (const Error error = connect(); error.failed()) return error;
  auto answer = client_->ask(kind, body, limit_ms);
  if (answer.failed()) client_.reset();
  return answer;
}

base::Result<std::vector<int>> MpiexecService::spawn(const std::vector<mpi::SpawnCommand>& commands,
                                                     std::string_view parent_port) {
  wire::LaunchSpawn order{working_folder(), std::string(parent_port), {}};
  std::size_t processes = 0;
  for (const mpi::SpawnCommand& command : commands) {
    processes += static_cast<std::size_t>(command.processes);
    order.programs.push_back({command.program, command.arguments,
                              static_cast<std::uint32_t>(command.processes), command.info});
  }
  if (const Error error = connect(); error.failed()) {
    return failure(ErrorClass::spawn, "%s", error.text().c_str());
  }
  client_->watch(parent_port);
  const auto answer = ask(LaunchKind::spawn, encode_body(order), LaunchClient::spawn_limit_ms);
  if (answer.failed()) return failure(ErrorClass::spawn, "%s", answer.error().text().c_str());
  if (const Error error = error_of(answer.value()); error.failed()) {
    client_->forget(parent_port);
    return error;
  }
  if (answer.value().codes.size() != processes) {
    return failure(ErrorClass::spawn, "mpiexec tells of %zu processes where %zu were asked for",
                   answer.value().codes.size(), processes);
  }
  return std::vector<int>(answer.value().codes.begin(), answer.value().codes.end());
}

std::string MpiexecService::parent_port() { return parent_port_in_environment(); }

std::string MpiexecService::spawned_job_ended(std::string_view parent_port) {
  if (!client_) return "the mpiexec that started the spawned processes cannot be asked any more";
  const int* const exit_code = client_->job_ended(parent_port);
  if (exit_code == nullptr) return {};
  return "the spawned processes have ended with exit code " + std::to_string(*exit_code);
}

void MpiexecService::forget_spawned_job(std::string_view parent_port) {
  if (client_) client_->forget(parent_port);
}

/// The port, for a lookup.
base::Result<std::string> MpiexecService::ask_about_name(LaunchKind kind, std::string_view service,
                                                         std::string_view port) {
  const std::string body = encode_body(wire::LaunchName{std::string(service), std::string(port)});
  auto answer = ask(kind, body, LaunchClient::name_limit_ms);
  if (answer.failed()) return failure(ErrorClass::service, "%s", answer.error().text().c_str());
  if (const Error error = error_of(answer.value()); error.failed()) return error;
  return std::move(answer->text);
}

Error MpiexecService::publish(std::string_view service, std::string_view port,
                              const std::vector<mpi::InfoEntry>& /*info*/) {
  return ask_about_name(LaunchKind::publish, service, port).error();
}

base::Result<std::string> MpiexecService::lookup(std::string_view service,
                                                 const std::vector<mpi::InfoEntry>& /*info*/) {
  return ask_about_name(LaunchKind::lookup, service, {});
}

Error MpiexecService::unpublish(std::string_view service, std::string_view port,
                                const std::vector<mpi::InfoEntry>& /*info*/) {
  return ask_about_name(LaunchKind::unpublish, service, port).error();
}

}  // namespace fulmar::runtime
