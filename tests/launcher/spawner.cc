// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Uses what a launcher offers after the start (runtime/spawn/launch_service.h) without MPI: does what its
// arguments say, one after the other, and prints a line for each.
//
//     port NAME              the parent's port of what is spawned next
//     info KEY VALUE         of the next command
//     command N PROGRAM ARGUMENTS... .      one of several commands
//     spawn N PROGRAM ARGUMENTS... .        the last one; spawns all
//     ended                  waits until the spawned job has ended
//     publish SERVICE PORT, lookup SERVICE, unpublish SERVICE PORT
//     parent                 prints the own parent's port
//     bye                    leaves in the proper way
//     pause, exit CODE       (without leaving)
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "runtime/spawn/mpiexec_service.h"
#include "runtime/spawn/names.h"

namespace {

using fulmar::base::Error;
using fulmar::mpi::InfoEntry;
using fulmar::mpi::SpawnCommand;

fulmar::base::Result<fulmar::runtime::LaunchClient> connect() {
  const char* address = std::getenv("FULMAR_LAUNCH_SOCKET");
  const char* job = std::getenv("SPAWNER_JOB");
  const fulmar::wire::LaunchHello self{
      {}, static_cast<std::uint32_t>(job == nullptr ? ::getpid() : std::atoi(job)), 0};
  if (address != nullptr) return fulmar::runtime::LaunchClient::connect(address, self);
  auto socket = fulmar::runtime::start_spawn_server();
  if (socket.failed()) return socket.error();
  return fulmar::runtime::LaunchClient::open(std::move(*socket), self);
}

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void say(const char* what, const Error& error) {
  say(std::string(what) + ": " +
      (error.failed() ? std::string(error_class_name(error.error_class())) + ": " + error.text()
                      : "done"));
}

class Script {
 public:
  explicit Script(std::vector<std::string> words) : words_(std::move(words)) {
    service_ = std::make_unique<fulmar::runtime::MpiexecService>(connect);
    if (std::getenv("FULMAR_NAMES") != nullptr) {
      const char* job = std::getenv("SPAWNER_JOB");
      service_ = fulmar::runtime::with_names(
          std::move(service_), std::getenv("FULMAR_NAMES"),
          static_cast<std::uint32_t>(job == nullptr ? ::getpid() : std::atoi(job)));
    }
  }

  int run() {
    while (at_ < words_.size()) {
      const std::string verb = next();
      if (verb == "exit") ::_exit(std::atoi(next().c_str()));
      if (verb == "pause") {
        say("paused");
        while (true) ::pause();
      }
      do_one(verb);
    }
    return 0;
  }

 private:
  std::string next() { return at_ < words_.size() ? words_[at_++] : std::string(); }

  void do_one(const std::string& verb) {
    if (verb == "port") {
      port_ = next();
    } else if (verb == "info") {
      const std::string key = next();
      info_.emplace_back(key, next());
    } else if (verb == "command" || verb == "spawn") {
      add_command();
      if (verb == "spawn") spawn();
    } else if (verb == "ended") {
      std::string text;
      while ((text = service_->spawned_job_ended(port_)).empty()) ::usleep(2000);
      say("ended: " + text);
    } else if (verb == "publish") {
      const std::string service = next();
      say("publish", service_->publish(service, next(), {}));
    } else if (verb == "lookup") {
      const auto port = service_->lookup(next(), {});
      if (port.failed()) return say("lookup", port.error());
      say("lookup: " + port.value());
    } else if (verb == "unpublish") {
      const std::string service = next();
      say("unpublish", service_->unpublish(service, next(), {}));
    } else if (verb == "parent") {
      say("parent: " + service_->parent_port());
    } else if (verb == "bye") {
      service_.reset();
    } else {
      say("what is " + verb + "?");
    }
  }

  void add_command() {
    SpawnCommand command;
    command.processes = std::atoi(next().c_str());
    command.program = next();
    for (std::string word = next(); word != "."; word = next()) command.arguments.push_back(word);
    command.info = std::exchange(info_, {});
    commands_.push_back(std::move(command));
  }

  void spawn() {
    const auto codes = service_->spawn(std::exchange(commands_, {}), port_);
    if (codes.failed()) return say("spawn", codes.error());
    std::string line = "spawned:";
    for (const int code : codes.value()) line += " " + std::to_string(code);
    say(line);
  }

  std::vector<std::string> words_;
  std::size_t at_ = 0;
  std::string port_ = "port-of-" + std::to_string(::getpid());
  std::vector<InfoEntry> info_;
  std::vector<SpawnCommand> commands_;
  std::unique_ptr<fulmar::mpi::LaunchService> service_;
};

}  // namespace

int main(int argc, char** argv) { return Script({argv + 1, argv + argc}).run(); }
