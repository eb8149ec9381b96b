// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/names/names.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "fulmar/names/server.h"

namespace fulmar::names {
namespace {

int complain(const base::Error& error) {
  std::fprintf(stderr, "fulmar names: %s\n", error.text().c_str());
  return 1;
}

std::string own_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

/// The whole path, so that the printed value holds in other folders, too.
std::string whole(const std::string& file) {
  std::array<char, PATH_MAX> path{};
  return ::realpath(file.c_str(), path.data()) == nullptr ? file : path.data();
}

}  // namespace

int run(const Options& options) {
  const auto hash = base::KeyedHash::load();
  if (hash.failed()) return complain(hash.error());
  if (const base::Error error = wire::make_key_file(options.key_file, hash.value());
      error.failed()) {
    return complain(error);
  }
  const auto key = wire::read_key_file(options.key_file);
  if (key.failed()) return complain(key.error());
  Server server(hash.value(), key.value());
  if (const base::Error error = server.listen(options.host, options.port); error.failed()) {
    return complain(error);
  }
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM}) ::sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  const base::UniqueFd stop(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  const std::string host = options.host.empty() ? own_name() : options.host;
  const bool six = host.find(':') != std::string::npos;
  std::printf("FULMAR_NAMES=%s%s%s:%u:%s\n", six ? "[" : "", host.c_str(), six ? "]" : "",
              server.port(), whole(options.key_file).c_str());
  std::fflush(stdout);
  server.run(stop.get());
  return 0;
}

}  // namespace fulmar::names
