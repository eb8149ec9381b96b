// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// PMIx after the start: spawning processes, and the name service.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime/bootstrap/pmix.h"
#include "runtime/quoted_length.h"
#include "wire/launch/launch_message.h"

namespace fulmar::runtime::bootstrap {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using pmix::Info;
using pmix::Kind;

/// Keys of MPI's info in the terms of PMIx: of a program, or of the whole job.
struct KeyName {
  std::string_view key;
  const char* name;
};
constexpr std::array program_keys = {
    KeyName{"host", pmix::key_host},
    KeyName{"add-host", pmix::key_add_host},
    KeyName{"hostfile", pmix::key_hostfile},
    KeyName{"add-hostfile", pmix::key_add_hostfile},
};
constexpr std::array job_keys = {KeyName{"bind-to", pmix::key_bind_to},
                                 KeyName{"map-by", pmix::key_map_by}};

/// Lists in the form of C, which point into texts that live as long as this.
class Texts {
 public:
  void add(std::string text) { texts_.push_back(std::move(text)); }
  /// Valid until something is added.
  char** list() {
    pointers_.clear();
    for (std::string& text : texts_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
    return pointers_.data();
  }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

/// A text as an argument; `value` has to live as long.
Info text_info(const char* key, std::string& value) {
  Info info;
  std::strncpy(info.key.data(), key, info.key.size() - 1);
  info.value.kind = Kind::string;
  info.value.string = value.data();
  return info;
}

/// What the call gets for one order.
struct Program {
  std::string name;
  std::string folder;
  Texts argv;
  Texts environment;
  std::vector<std::string> values;
  std::vector<Info> info;
};

void fill(Program& program, const StartOrder& order, std::string_view parent_port) {
  program.name = order.program;
  program.folder = order.folder;
  program.argv.add(order.program);
  for (const std::string& argument : order.arguments) program.argv.add(argument);
  for (const auto& [name, value] : order.environment) program.environment.add(name + "=" + value);
  program.environment.add(std::string(wire::env_parent_port) + "=" + std::string(parent_port));
  program.values.reserve(program_keys.size());
  for (const KeyName& row : program_keys) {
    const auto value = wire::info_value(order.info, row.key);
    if (!value) continue;
    program.values.push_back(*value);
    program.info.push_back(text_info(row.name, program.values.back()));
  }
}

pmix::App app_of(Program& program, std::uint32_t processes) {
  pmix::App app;
  app.program = program.name.data();
  app.argv = program.argv.list();
  app.environment = program.environment.list();
  app.folder = program.folder.data();
  app.processes = static_cast<int>(processes);
  app.info = program.info.data();
  app.info_count = program.info.size();
  return app;
}

/// Services are keys: a prefix keeps them apart from those of others.
std::string key_of(std::string_view service) { return "fulmar.service." + std::string(service); }

constexpr std::size_t longest_service = 400;

}  // namespace

Error Pmix::spawn(std::span<const StartOrder> orders, std::string_view parent_port) {
  if (functions_.spawn == nullptr) return Bootstrap::spawn(orders, parent_port);
  std::vector<Program> programs(orders.size());
  std::vector<pmix::App> apps;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    fill(programs[i], orders[i], parent_port);
    apps.push_back(app_of(programs[i], orders[i].processes));
  }
  std::vector<std::string> values;
  std::vector<Info> info;
  values.reserve(job_keys.size());
  for (const KeyName& row : job_keys) {
    const auto value = wire::info_value(orders[0].info, row.key);
    if (!value) continue;
    values.push_back(*value);
    info.push_back(text_info(row.name, values.back()));
  }
  pmix::Proc spawned;  // its first member is as long as the name that is given back
  const int status =
      functions_.spawn(info.data(), info.size(), apps.data(), apps.size(), spawned.space.data());
  if (status == pmix::success) return {};
  return failure(
      ErrorClass::spawn,
      "the launcher does not start %u processes of \"%.100s\": PMIx_Spawn fails with status "
      "%d; are there free slots (prterun --map-by :OVERSUBSCRIBE), and is the program there? "
      "srun --mpi=pmix cannot spawn: use srun --mpi=pmi2",
      orders[0].processes, orders[0].program.c_str(), status);
}

/// Not with the key alone: some servers publish one key twice.
Error Pmix::publish_name(std::string_view service, std::string_view port) {
  if (functions_.publish == nullptr) return Bootstrap::publish_name(service, port);
  const std::string key = key_of(service);
  if (service.empty() || service.size() > longest_service) {
    return failure(ErrorClass::service, "a service name of %zu bytes cannot be published (PMIx)",
                   service.size());
  }
  if (lookup_name(service).ok()) {
    return failure(ErrorClass::service, "the service \"%.*s\" is published already",
                   quoted_length(service), service.data());
  }
  std::string value(port);
  const Info info = text_info(key.c_str(), value);
  const int status = functions_.publish(&info, 1);
  if (status == pmix::success) return {};
  return failure(
      ErrorClass::service,
      "PMIx_Publish of the service \"%.*s\" fails with status %d; srun --mpi=pmix keeps no "
      "names: set FULMAR_NAMES",
      quoted_length(service), service.data(), status);
}

base::Result<std::string> Pmix::lookup_name(std::string_view service) {
  if (functions_.lookup == nullptr) return Bootstrap::lookup_name(service);
  pmix::Published found;
  const std::string key = key_of(service);
  std::strncpy(found.key.data(), key.c_str(), found.key.size() - 1);
  const int status = functions_.lookup(&found, 1, nullptr, 0);
  const bool is_text =
      status == pmix::success && found.value.kind == Kind::string && found.value.string != nullptr;
  if (!is_text && status != pmix::success && status != pmix::not_found) {
    return failure(
        ErrorClass::service,
        "PMIx_Lookup of the service \"%.*s\" fails with status %d; srun --mpi=pmix keeps no "
        "names: set FULMAR_NAMES",
        quoted_length(service), service.data(), status);
  }
  if (!is_text) {
    return failure(ErrorClass::name, "nobody has published the service \"%.*s\" at this launcher",
                   quoted_length(service), service.data());
  }
  std::string port = found.value.string;
  std::free(found.value.string);
  return port;
}

Error Pmix::unpublish_name(std::string_view service) {
  if (functions_.unpublish == nullptr) return Bootstrap::unpublish_name(service);
  if (const auto port = lookup_name(service); port.failed()) {
    return failure(ErrorClass::service, "%s", port.error().text().c_str());
  }
  std::string key = key_of(service);
  std::array<char*, 2> keys = {key.data(), nullptr};
  const int status = functions_.unpublish(keys.data(), nullptr, 0);
  if (status == pmix::success) return {};
  return failure(ErrorClass::service, "PMIx_Unpublish of the service \"%.*s\" fails with status %d",
                 quoted_length(service), service.data(), status);
}

}  // namespace fulmar::runtime::bootstrap
