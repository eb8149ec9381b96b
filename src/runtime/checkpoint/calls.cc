// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <linux/membarrier.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>

#include "mpi/comm/world.h"
#include "mpi/info/info.h"
#include "runtime/calls.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/init_lock.h"
#include "runtime/library_access.h"
#include "runtime/process.h"
#include "runtime/spawn/launch_service.h"
#include "wire/launch/launch_message.h"

/// MPIX_Checkpoint_quiesce and MPIX_Checkpoint_resume (mpi-ext.h).
namespace fulmar::runtime {

using base::Error;
using base::ErrorClass;

namespace {

/// Those by which a process finds mpiexec. Descriptors are not among them: they do not outlive the
/// process that inherited them.
constexpr std::array launcher_variables = {wire::env_job_socket, wire::env_rank, wire::env_size,
                                           wire::env_launch_socket};

constexpr const char* key_launcher = "fulmar_launcher";

mpi::Object* world_of(Process& process) {
  const bool open = process.world_state == Process::WorldState::open;
  return open ? &process.world().world : nullptr;
}

}  // namespace

Error read_launcher_file(const std::string& path, std::uint32_t rank) {
  std::ifstream file(path);
  if (!file) {
    return base::failure(ErrorClass::other, "the file %s of the info key %s cannot be read (%s)",
                         path.c_str(), key_launcher, std::strerror(errno));
  }
  bool found = false;
  for (std::string line; std::getline(file, line);) {
    const std::size_t end = line.find('=');
    const std::string name = line.substr(0, end);
    const auto is_it = [&](const char* each) { return name == each; };
    if (end == std::string::npos || std::ranges::none_of(launcher_variables, is_it)) continue;
    const std::string value = line.substr(end + 1);
    if (name == wire::env_rank && value != std::to_string(rank)) {
      return base::failure(ErrorClass::other,
                           "the file %s of the info key %s is that of rank %s, but this process is "
                           "rank %u; restore the images of all ranks in their order",
                           path.c_str(), key_launcher, value.c_str(), rank);
    }
    ::setenv(name.c_str(), value.c_str(), 1);
    found = found || name == wire::env_job_socket;
  }
  if (found) return {};
  return base::failure(ErrorClass::other, "the file %s of the info key %s has no line %s=...",
                       path.c_str(), key_launcher, wire::env_job_socket);
}

Checkpoint& Process::checkpoint() {
  if (checkpoint_ == nullptr) {
    checkpoint_ = std::make_unique<Checkpoint>(
        Checkpoint::Surroundings{job_, *networks_, *device_, library_});
  }
  return *checkpoint_;
}

Error Process::quiesce() {
  {
    const base::EngineGuard guard(library_.lock);
    if (const Error error = checkpoint().agree(); error.failed()) return error;
  }
  progress_thread_.stop();
  files_.stop();
  const base::EngineGuard guard(library_.lock);
  if (const Error error = checkpoint_->drain(); error.failed()) {
    start_progress_thread();
    return error;
  }
  usable_library.store(nullptr, std::memory_order_release);
  library_.trace.store(nullptr, std::memory_order_release);
  library_.checks_types = false;
  library_.quiet = true;
  heaps_.make_private();
  launcher_.reset();  // says goodbye
  library_.launcher = nullptr;
  return checkpoint_->close();
}

/// What the system knows of a process is not in its image.
Error Process::resume(const std::string& launcher_file) {
  if (!launcher_file.empty()) {
    if (const Error error = read_launcher_file(launcher_file, job_.rank()); error.failed())
      return error;
  }
  {
    const base::EngineGuard guard(library_.lock);
    (void)::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
    if (const Error error = checkpoint().reopen(options()); error.failed()) return error;
    ::prctl(PR_SET_PTRACER, static_cast<unsigned long>(job_.mpiexec_pid()), 0, 0, 0);
    launcher_ = make_launch_service(job_);
    library_.launcher = launcher_.get();
    library_.quiet = false;
    job_.set_state(wire::RankState::initialised);
  }
  start_progress_thread();
  let_in();
  return {};
}

Error checkpoint_quiesce(mpi::Library& /*library*/, mpi::ErrorTarget& target, mpi::Info* /*info*/) {
  const std::lock_guard guard(init_lock());
  Process& process = runtime::process();
  target.object = world_of(process);
  return process.quiesce();
}

Error checkpoint_resume(mpi::Library& library, mpi::ErrorTarget& target, mpi::Info* info) {
  const std::lock_guard guard(init_lock());
  Process& process = runtime::process();
  target.object = world_of(process);
  if (!library.quiet) {
    return base::failure(ErrorClass::other,
                         "this process has not called MPIX_Checkpoint_quiesce before");
  }
  const std::string* const file = info == nullptr ? nullptr : info->find(key_launcher);
  return process.resume(file == nullptr ? std::string() : *file);
}

}  // namespace fulmar::runtime
