// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/info/info.h"

#include <limits.h>
#include <mpi.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace fulmar::mpi {
namespace {

auto find_entry(std::vector<Info::Entry>& entries, std::string_view key) {
  return std::find_if(entries.begin(), entries.end(),
                      [key](const Info::Entry& entry) { return entry.key == key; });
}

/// The arguments of this process as the kernel knows them; empty where /proc is missing.
std::vector<std::string> own_command_line() {
  std::vector<std::string> words;
  std::FILE* file = std::fopen("/proc/self/cmdline", "re");
  if (file == nullptr) return words;
  std::string word;
  for (int letter = std::fgetc(file); letter != EOF; letter = std::fgetc(file)) {
    if (letter != '\0') {
      word += static_cast<char>(letter);
      continue;
    }
    words.push_back(word);
    word.clear();
  }
  std::fclose(file);
  return words;
}

std::string joined(const std::vector<std::string>& words, std::size_t first) {
  std::string text;
  for (std::size_t i = first; i < words.size(); ++i) {
    if (i != first) text += ' ';
    text += words[i];
  }
  return text;
}

void set_if_known(Info& info, std::string_view key, std::string_view value) {
  if (!value.empty()) info.set(key, value.substr(0, MPI_MAX_INFO_VAL - 1));
}

}  // namespace

const std::string* Info::find(std::string_view key) const noexcept {
  const auto entry = find_entry(const_cast<std::vector<Entry>&>(entries), key);
  return entry != entries.end() ? &entry->value : nullptr;
}

void Info::set(std::string_view key, std::string_view value) {
  const auto entry = find_entry(entries, key);
  if (entry != entries.end()) {
    entry->value = value;
  } else {
    entries.push_back({std::string(key), std::string(value)});
  }
}

bool Info::erase(std::string_view key) {
  const auto entry = find_entry(entries, key);
  if (entry == entries.end()) return false;
  entries.erase(entry);
  return true;
}

void describe_process(Info& info, const LaunchInfo& launch) {
  const auto words = launch.command_line.empty() ? own_command_line() : launch.command_line;
  if (!words.empty()) set_if_known(info, "command", words[0]);
  set_if_known(info, "argv", joined(words, 1));
  set_if_known(info, "maxprocs", launch.max_processes);
  set_if_known(info, "soft", launch.max_processes);
  utsname system{};
  if (::uname(&system) == 0) {
    set_if_known(info, "host", system.nodename);
    set_if_known(info, "arch", system.machine);
  }
  std::array<char, PATH_MAX> folder{};
  if (::getcwd(folder.data(), folder.size()) != nullptr) set_if_known(info, "wdir", folder.data());
  set_if_known(info, "mpi_initial_errhandler", launch.errhandler);
}

PredefinedInfo::PredefinedInfo(Library& library) noexcept : library_(library) {
  library.define(env, reinterpret_cast<std::uintptr_t>(MPI_INFO_ENV));
}

}  // namespace fulmar::mpi
