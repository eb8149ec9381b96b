// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/job.h"

#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "mpiexec/environment.h"
#include "mpiexec/find_program.h"
#include "mpiexec/generations.h"
#include "mpiexec/guard.h"
#include "mpiexec/input.h"
#include "mpiexec/job_segment.h"
#include "mpiexec/job_socket.h"
#include "mpiexec/output.h"
#include "mpiexec/placement.h"
#include "mpiexec/pmi_server.h"
#include "mpiexec/poller.h"
#include "mpiexec/program_abi.h"
#include "mpiexec/sessions.h"
#include "mpiexec/spawned_job.h"
#include "mpiexec/supervise.h"
#include "mpiexec/topology.h"

namespace fulmar::mpiexec {
namespace {

using base::Error;
using base::failure;

constexpr int exit_code_failure = 1;
constexpr const char* sysfs = "/sys";

/// A program, ready to start.
struct ReadyProgram {
  const Program& program;
  std::string file;
  std::vector<std::string> environment;
};

/// What a spawned job has that the first one has not.
struct SpawnedBy {
  const LaunchServer::Order& order;
  std::vector<std::int32_t> codes;  ///< for the answer
  std::uint32_t universe_size = 0;
  std::uint32_t running = 0;  ///< ranks of other jobs
};

/// Sends the result of the start of a spawned job to the server: once.
void answer_spawn(const SpawnedBy& spawned, const wire::LaunchAnswer& answer) {
  const std::string frame = encode_frame(wire::LaunchKind::answer, 0, encode_body(answer));
  (void)!::send(spawned.order.report_fd, frame.data(), frame.size(), MSG_NOSIGNAL);
}

/// Reports a failed start to the user, or to the process that spawned the job.
int report(const SpawnedBy* spawned, const std::string& text, int exit_code) {
  if (spawned != nullptr) {
    constexpr auto code = static_cast<std::int32_t>(base::ErrorClass::spawn);
    answer_spawn(*spawned, {code, text, {}});
    return exit_code;
  }
  const std::string line = "mpiexec: " + text + "\n";
  (void)!::write(2, line.data(), line.size());
  return exit_code;
}

/// Finds all programs before the first rank starts. On failure `exit_code` says 126 or 127.
Error find_programs(const Options& options, std::vector<ReadyProgram>& ready, int& exit_code) {
  const auto folders = library_folders(options.abi, own_library_folder());
  if (folders.failed()) {
    exit_code = 2;
    return folders.error();
  }
  for (const Program& program : options.programs) {
    ReadyProgram entry{program, {}, program_environment(environ, options.env, program.env)};
    if (!program.wdir.empty() && ::access(program.wdir.c_str(), X_OK) != 0) {
      return failure(base::ErrorClass::spawn, "cannot start \"%s\" in the folder \"%s\": %s",
                     program.argv[0].c_str(), program.wdir.c_str(), std::strerror(errno));
    }
    offer_libraries(folders.value(), entry.environment);
    const char* path = find_variable(entry.environment, "PATH");
    if (path == nullptr) path = std::getenv("PATH");
    FoundProgram found = find_program(program.argv[0], program.wdir, program.path,
                                      path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
    if (found.exit_code != 0) {
      exit_code = found.exit_code;
      return failure(base::ErrorClass::spawn, "cannot start \"%s\": %s", program.argv[0].c_str(),
                     found.problem.c_str());
    }
    entry.file = std::move(found.file);
    ready.push_back(std::move(entry));
  }
  return {};
}

/// Where ranks run and how much the job has to run on.
struct Machine {
  Placement placement;
  std::uint32_t core_count = 1;
  std::uint32_t universe_size = 1;
};

/// A spawned job is not bound by default: the cores belong to the running jobs.
Machine place_job(const Options& options, const SpawnedBy* spawned) {
  const Place bind_to =
      options.bind_to == Place::automatic && spawned != nullptr ? Place::none : options.bind_to;
  const auto wants = [](Place place) {
    return place == Place::l3cache || place == Place::numa || place == Place::socket;
  };
  const TopologyDetail detail =
      wants(bind_to) || wants(options.map_by) ? TopologyDetail::all : TopologyDetail::cores;
  const auto processors = read_topology(allowed_processors(), sysfs, detail);
  Machine machine;
  machine.placement =
      place_ranks(options.rank_count(), processors, bind_to, options.map_by,
                  {options.ranks_per_object, options.units_per_rank, options.count_hwthreads});
  std::set<std::uint32_t> used;
  bool unbound = false;
  for (const auto& ids : machine.placement) {
    unbound = unbound || ids.empty();
    used.insert(ids.begin(), ids.end());
  }
  const std::size_t count = unbound ? processors.size() : used.size();
  machine.core_count = static_cast<std::uint32_t>(count);
  if (const auto quota = cpu_quota(sysfs))
    machine.core_count = std::min(machine.core_count, *quota);
  const auto slots = static_cast<std::uint32_t>(processors.size());
  machine.universe_size = spawned != nullptr           ? spawned->universe_size
                          : options.universe_size != 0 ? options.universe_size
                                                       : std::max(slots, options.rank_count());
  return machine;
}

base::Result<wire::JobPlan> plan_job(const Options& options, const Machine& machine,
                                     const SpawnedBy* spawned) {
  wire::JobPlan plan;
  plan.rank_count = options.rank_count();
  plan.app_count = static_cast<std::uint32_t>(options.programs.size());
  plan.core_count = machine.core_count;
  const std::uint32_t others = spawned == nullptr ? 0 : spawned->running;
  const bool crowded =
      plan.rank_count > plan.core_count || others > plan.core_count - plan.rank_count;
  plan.flags = crowded ? wire::job_flag_oversubscribed : 0;
  plan.mpiexec_pid = ::getpid();
  plan.area_bytes = wire::area_bytes_for(plan.rank_count);
  if (Error error = draw_identity(plan); error.failed()) return error;
  return plan;
}

/// The segment of the job that mpiexec itself is a rank's child of: not for our children to see.
void close_outer_segment() {
  const char* text = std::getenv(wire::env_job_fd);
  if (text == nullptr) return;
  const int fd = std::atoi(text);
  if (fd < 3) return;
  char target[64] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  constexpr std::string_view expected = "/memfd:fulmar-job";
  if (::readlink(link.c_str(), target, sizeof target - 1) > 0 &&
      std::string_view(target).starts_with(expected)) {
    ::close(fd);
  }
}

base::UniqueFd open_signal_fd() {
  sigset_t blocked;
  ::sigprocmask(SIG_SETMASK, nullptr, &blocked);
  return base::UniqueFd(::signalfd(-1, &blocked, SFD_CLOEXEC | SFD_NONBLOCK));
}

void fill_record(wire::RankRecord& record, std::uint32_t appnum,
                 const std::vector<std::uint32_t>& processors) {
  record.appnum = appnum;
  record.core_count = static_cast<std::uint32_t>(processors.size());
  if (processors.empty()) return;
  record.first_core = *std::min_element(processors.begin(), processors.end());
  for (const std::uint32_t id : processors) {
    if (id / 64 < record.core_mask.size()) record.core_mask[id / 64] |= std::uint64_t{1} << id % 64;
  }
}

Output::Wishes output_wishes(const Options& options, const SpawnedBy* spawned) {
  return {options.label ? options.label_pattern : "",
          options.timestamps,
          options.merge_stderr,
          options.output_files,
          own_host_name(),
          spawned == nullptr ? 0 : spawned->order.number};
}

/// All before the first rank starts: the ranks read each other's.
void fill_records(std::span<wire::RankRecord> records, const std::vector<ReadyProgram>& programs,
                  const Machine& machine) {
  std::uint32_t rank = 0;
  for (std::uint32_t appnum = 0; appnum < programs.size(); ++appnum) {
    for (std::uint32_t i = 0; i < programs[appnum].program.count; ++i, ++rank) {
      fill_record(records[rank], appnum, machine.placement[rank]);
    }
  }
}

/// What a job is started from.
struct JobStart {
  const Options& options;
  const Inheritance& inheritance;
  std::span<char> title;
  const SpawnedBy* spawned;  ///< null: the first job
};

/// Everything of one job, made in the order of the members and taken down in the reverse one.
class Job {
 public:
  Job(const JobStart& start, const Machine& machine, const std::vector<ReadyProgram>& programs,
      Generations& generations, const Roster& roster, Guard& guard, Poller& poller)
      : options_(start.options),
        start_(start),
        machine_(machine),
        programs_(programs),
        generations_(generations),
        roster_(roster),
        output_(poller, options_.rank_count(), output_wishes(options_, start.spawned)),
        input_(poller, options_.stdin_to, options_.stdin_rank),
        socket_(poller, output_, roster, generations),
        pmi_(poller, generations.first().records(), generations.first().header().job_id),
        signal_fd_(open_signal_fd()),
        launch_(poller, launch_hooks()),
        supervisor_({poller, output_, input_, socket_, pmi_, guard, generations, roster,
                     signal_fd_.get(), start.spawned == nullptr ? &launch_ : nullptr,
                     start.spawned == nullptr ? -1 : start.spawned->order.report_fd},
                    options_.rank_count()) {
    if (const Error error = socket_.open(); error.failed() && options_.verbose) {
      output_.say("mpiexec: " + error.text());
    }
    if (start.spawned == nullptr) {
      const Error error = launch_.open();
      if (error.failed() && options_.verbose) output_.say("mpiexec: " + error.text());
    }
    (void)poller.add(signal_fd_.get(), EPOLLIN, {SourceKind::signals, 0});
    (void)poller.add(guard.fd(), EPOLLIN, {SourceKind::guard, 0});
  }

  int run() {
    if (const Error error = output_.open_files(); error.failed()) {
      supervisor_.give_up(refuse(error.text()));
      return exit_code_failure;
    }
    show_map();
    const auto start = [](void* job) { static_cast<Job*>(job)->start_ranks(); };
    if (const int error = in_new_session(roster_.session(), start, this); error != 0) {
      start_code_ =
          refuse(std::string("cannot make a session for the ranks: ") + std::strerror(error));
    }
    if (start_code_ != 0) {
      supervisor_.give_up(start_code_);
      return start_code_;
    }
    if (start_.spawned != nullptr) answer_spawn(*start_.spawned, {0, {}, start_.spawned->codes});
    using OnDeadlock = Supervisor::Limits::OnDeadlock;
    using OnFailure = Supervisor::Limits::OnFailure;
    using OnSignal = Supervisor::Limits::OnSignal;
    return supervisor_.run(
        {options_.timeout_s, options_.deadlock_timeout_s, options_.polled_deadlock_timeout_s,
         options_.deadlock_abort ? OnDeadlock::end : OnDeadlock::report,
         options_.continues ? OnFailure::go_on : OnFailure::end, options_.print_exit_codes,
         start_.spawned == nullptr ? OnSignal::report : OnSignal::silent});
  }

 private:
  /// Spawned jobs run on the terms of this one.
  LaunchServer::Hooks launch_hooks() {
    return {[this](const LaunchServer::Order& order) {
              return run_spawned_job(options_, start_.inheritance, start_.title, order,
                                     machine_.universe_size, options_.rank_count() + order.running);
            },
            [this](std::uint32_t number, int exit_code) {
              supervisor_.on_job_failure(number, exit_code);
            },
            [this](const std::string& line) { output_.say(line); }};
  }

  /// What --display map and -print-rank-map ask for.
  void show_map() {
    const std::string host = own_host_name();
    const std::uint32_t last = options_.rank_count() - 1;
    if (options_.show_map) {
      output_.say("mpiexec: host " + host + ": rank" +
                  (last == 0 ? " 0" : "s 0-" + std::to_string(last)));
    }
    if (!options_.print_rank_map) return;
    std::string line = "(" + host + ":";
    for (std::uint32_t rank = 0; rank <= last; ++rank) {
      line += (rank == 0 ? "" : ",") + std::to_string(rank);
    }
    std::printf("%s)\n", line.c_str());
    std::fflush(stdout);
  }

  /// Up to the first that fails.
  void start_ranks() {
    std::uint32_t rank = 0;
    for (std::uint32_t appnum = 0; appnum < programs_.size(); ++appnum) {
      for (std::uint32_t i = 0; i < programs_[appnum].program.count; ++i, ++rank) {
        start_code_ = start_rank(rank, appnum);
        if (start_code_ != 0) return;
      }
    }
  }

  /// Returns 0, or the exit code after having said what failed.
  int start_rank(std::uint32_t rank, std::uint32_t appnum) {
    const std::vector<std::uint32_t>& processors = machine_.placement[rank];
    if (options_.report_bindings || options_.verbose) say_binding(rank, processors);
    auto in = input_.connect_rank(rank);
    if (in.failed()) return refuse(in.error().text());
    auto ends = output_.connect_rank(rank);
    if (ends.failed()) return refuse(ends.error().text());

    auto pmi = pmi_.connect_rank(rank);
    if (pmi.failed()) return refuse(pmi.error().text());

    SpawnRequest request;
    request.pmi_fd = pmi->get();
    request.fds[0] = in->fd;
    request.fds[1] = ends->out_fd();
    request.fds[2] = ends->err_fd();
    request.processors = processors;
    return spawn(rank, appnum, request);
  }

  int spawn(std::uint32_t rank, std::uint32_t appnum, SpawnRequest& request) {
    const ReadyProgram& ready = programs_[appnum];
    std::vector<std::string> own =
        rank_environment({generations_.first().fd(), rank, options_.rank_count(), appnum,
                          socket_.name(), request.pmi_fd, ready.program.count, launch_socket(),
                          parent_port(), machine_.universe_size});
    std::vector<char*> environment = pointers_to(ready.environment, own);
    std::vector<char*> argv = pointers_to(ready.program.argv, {});
    request.file = ready.file.c_str();
    request.argv = argv.data();
    request.environment = environment.data();
    request.wdir = ready.program.wdir.empty() ? nullptr : ready.program.wdir.c_str();
    request.job_fd = generations_.first().fd();
    request.slot = &roster_.slot(rank);

    wire::RankRecord& record = generations_.record(rank);
    record.state.store(static_cast<std::uint32_t>(wire::RankState::started),
                       std::memory_order_release);
    Spawned spawned = spawn_rank(request, start_.inheritance);
    if (spawned.error != 0) return refuse_start(rank, ready, spawned);
    std::int32_t unset = 0;  // behind a wrapper the rank itself may already have written its own
    record.pid.compare_exchange_strong(unset, spawned.pid, std::memory_order_acq_rel);
    supervisor_.add_rank(spawned.pid, std::move(spawned.fd), ready.program.argv[0]);
    return 0;
  }

  static std::vector<char*> pointers_to(const std::vector<std::string>& first,
                                        const std::vector<std::string>& second) {
    std::vector<char*> pointers;
    pointers.reserve(first.size() + second.size() + 1);
    for (const std::string& text : first) pointers.push_back(const_cast<char*>(text.c_str()));
    for (const std::string& text : second) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
  }

  [[nodiscard]] std::string_view launch_socket() const {
    return start_.spawned == nullptr ? launch_.address() : start_.spawned->order.address;
  }
  [[nodiscard]] std::string_view parent_port() const {
    if (start_.spawned == nullptr) return {};
    return start_.spawned->order.spawn.parent_port;
  }

  int refuse(const std::string& text) {
    if (start_.spawned != nullptr) return report(start_.spawned, text, exit_code_failure);
    output_.say("mpiexec: " + text);
    return exit_code_failure;
  }

  int refuse_start(std::uint32_t rank, const ReadyProgram& ready, const Spawned& spawned) {
    const std::string& name = ready.program.argv[0];
    std::string text = "cannot start rank " + std::to_string(rank) + " of " +
                       std::to_string(options_.rank_count()) + " (" + name + "): ";
    const bool exec = std::string_view(spawned.step) == "execve";
    if (std::string_view(spawned.step) == "chdir")
      text += "working folder " + ready.program.wdir + ": ";
    else if (!exec)
      text += std::string(spawned.step) + ": ";
    text += spawned.refused.empty() ? std::strerror(spawned.error) : spawned.refused;
    if (spawned.error == EMFILE) text += "; raise the limit of open files (ulimit -n)";
    if (spawned.error == EAGAIN) text += "; raise the limit of processes (ulimit -u)";
    if (exec && spawned.error == ENOENT) text += "; is the interpreter that it names there?";
    refuse(text);
    return exec ? (spawned.error == ENOENT ? 127 : 126) : exit_code_failure;
  }

  void say_binding(std::uint32_t rank, const std::vector<std::uint32_t>& processors) {
    output_.say(
        "mpiexec: rank " + std::to_string(rank) + " of " + std::to_string(options_.rank_count()) +
        ": " +
        (processors.empty() ? "not bound" : "processors " + format_processor_list(processors)));
  }

  const Options& options_;
  const JobStart& start_;
  const Machine& machine_;
  const std::vector<ReadyProgram>& programs_;
  Generations& generations_;
  const Roster& roster_;
  int start_code_ = 0;
  Output output_;
  Input input_;
  JobSocket socket_;
  PmiServer pmi_;
  base::UniqueFd signal_fd_;
  LaunchServer launch_;  ///< of the first job only
  Supervisor supervisor_;
};

int run(const JobStart& start) {
  const Options& options = start.options;
  const auto fail = [&](const std::string& text, int exit_code = exit_code_failure) {
    return report(start.spawned, text, exit_code);
  };
  std::vector<ReadyProgram> programs;
  int exit_code = exit_code_failure;
  if (Error error = find_programs(options, programs, exit_code); error.failed()) {
    return fail(error.text(), exit_code);
  }
  auto roster = Roster::create(options.rank_count());
  if (roster.failed()) return fail(roster.error().text());
  Guard guard(*roster, start.title);  // before the segment: the guard shall not keep that memory
  if (Error error = guard.start(); error.failed()) return fail(error.text());

  const Machine machine = place_job(options, start.spawned);
  const auto plan = plan_job(options, machine, start.spawned);
  if (plan.failed()) return fail(plan.error().text());
  auto segment = JobSegment::create(plan.value());
  if (segment.failed()) return fail(segment.error().text());
  auto poller = Poller::create();
  if (poller.failed()) return fail(poller.error().text());
  Generations generations(
      std::move(*segment), plan.value(), *roster,
      [&](std::span<wire::RankRecord> records) { fill_records(records, programs, machine); });
  return Job(start, machine, programs, generations, *roster, guard, *poller).run();
}

}  // namespace

int run_job(const Options& options, const Inheritance& inheritance, std::span<char> title) {
  close_outer_segment();
  return run({options, inheritance, title, nullptr});
}

int run_spawned_job(const Options& first, const Inheritance& inheritance, std::span<char> title,
                    const LaunchServer::Order& order, std::uint32_t universe_size,
                    std::uint32_t running) {
  SpawnedBy spawned{order, {}, universe_size, running};
  auto plan = plan_spawn(first, order.spawn, order.number);
  if (plan.failed()) return report(&spawned, plan.error().text(), exit_code_failure);
  spawned.codes = std::move(plan->codes);
  Inheritance own = inheritance;
  own.mpiexec = ::getpid();
  return run({plan->options, own, title, &spawned});
}

}  // namespace fulmar::mpiexec
