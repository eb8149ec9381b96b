// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string_view>

#include "fulmar/doctor/gather.h"

namespace fulmar::doctor {

namespace {

/// The devices that libibverbs has a driver for, one a line. Runs in a child: what the library
/// prints about the others is reported here in other words.
std::string usable_devices(void* library) {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) {
    ::dup2(nowhere, STDERR_FILENO);
  }
  // Devices are handles here; the library's headers may not be installed.
  const auto list = reinterpret_cast<void** (*)(int*)>(::dlsym(library, "ibv_get_device_list"));
  const auto name =
      reinterpret_cast<const char* (*)(void*)>(::dlsym(library, "ibv_get_device_name"));
  int count = 0;
  void** const devices = list == nullptr || name == nullptr ? nullptr : list(&count);
  std::string names;
  for (int i = 0; devices != nullptr && i < count; ++i) {
    names += std::string(name(devices[i])) + "\n";
  }
  return names;
}

bool fabric_names_verbs() {
  const char* const value = std::getenv("FULMAR_FABRIC");
  std::istringstream words(value == nullptr ? "" : value);
  for (std::string word; std::getline(words, word, ',');) {
    if (word == "verbs") {
      return true;
    }
  }
  return false;
}

std::string wished_device() {
  const char* const value = std::getenv("FULMAR_VERBS_DEVICE");
  return value == nullptr || std::string_view(value) == "auto" ? std::string() : value;
}

}  // namespace

RdmaFacts gather_rdma() {
  RdmaFacts facts;
  facts.devices = rdma::find_devices();
  facts.support = rdma::find_support();
  facts.asked_for = fabric_names_verbs();
  facts.wish = wished_device();
  facts.library = open_library({"libibverbs.so.1"}, usable_devices);
  std::istringstream names(facts.library.version);
  for (std::string name; std::getline(names, name);) {
    facts.usable.push_back(name);
  }
  facts.library.version.clear();
  return facts;
}

}  // namespace fulmar::doctor
