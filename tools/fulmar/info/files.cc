// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/info/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "io/hints.h"

namespace fulmar::info {

namespace {

using io::Storage;

std::string size_text(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.3g} {}", value, units[unit]);
}

std::string line(const char* name, const std::string& text) {
  return fmt::format("{:<13} {}\n", name, text);
}

std::string what_it_is(const std::string& path, const Storage& storage) {
  switch (storage.exists) {
    case Storage::Exists::folder:
      return path + " (a folder: this is of new files in it)";
    case Storage::Exists::folder_only:
      return path + " (does not exist yet)";
    default:
      return path;
  }
}

std::string system_text(const Storage& storage) {
  std::string text = fmt::format("{} (magic 0x{:08x}{})", storage.system.name, storage.magic,
                                 storage.system.remote ? ", served by other machines" : "");
  if (!storage.mount_point.empty()) {
    text += fmt::format(", {} on {}, {}", storage.mounted_from, storage.mount_point,
                        storage.mount_options);
  }
  return text;
}

std::string stripes_text(const Storage& storage) {
  if (storage.stripes.bytes == 0) {
    return "none known; parts of aggregators begin at multiples of " +
           size_text(static_cast<std::uint64_t>(storage.system.unit_bytes));
  }
  return fmt::format("{} over {} servers; parts of aggregators begin at stripes",
                     size_text(static_cast<std::uint64_t>(storage.stripes.bytes)),
                     storage.stripes.count);
}

std::string locks_text(const Storage& storage) {
  switch (storage.locks) {
    case Storage::Locks::work:
      return storage.system.remote ? "granted by the file server" : "granted by the kernel";
    case Storage::Locks::refused:
      return fmt::format("refused ({}): atomic mode and romio_ds_write=enable will fail",
                         std::strerror(storage.lock_error));
    case Storage::Locks::not_tested:
      return fmt::format("not tested, because no file could be opened for it ({})",
                         std::strerror(storage.lock_error));
  }
  return "";
}

std::string atomic_text(const Storage& storage) {
  if (storage.locks == Storage::Locks::refused) {
    return "not possible here, without locks";
  }
  return storage.system.remote ? "a lock of the file server for each access: slow; depends on its "
                                 "lock service"
                               : "a lock of the kernel for each access, no exchange";
}

std::string collective_text(const Storage& storage) {
  return storage.system.remote
             ? "two phases where ranks' data lie between each other in runs below 1 MiB: few large "
               "calls reach the server"
         : storage.system.maps
             ? "each rank for itself; two phases only where its short runs cannot be mapped"
             : "two phases where ranks' data lie between each other in short runs; else each rank "
               "for itself";
}

/// Of views with gaps.
std::string short_runs_text(const Storage& storage) {
  if (!storage.system.maps) return "a call for each run, or sieving";
  return storage.system.has_large_pages
             ? "copied to and from mapped memory; new parts of a file in pages of 2 MiB"
             : "copied to and from mapped memory";
}

/// Who carries out non-blocking accesses, with this FULMAR_FILES_ASYNC.
std::string async_text(const Storage& storage, const std::string& way) {
  const std::string threads = "on threads of the library";
  if (way == "threads") return threads + " (FULMAR_FILES_ASYNC=threads)";
  if (storage.io_uring_error != 0) return threads;
  if (way == "io_uring") {
    return "io_uring where the data are one block (FULMAR_FILES_ASYNC=io_uring), else " + threads;
  }
  if (storage.system.remote || storage.system.in_memory) return threads;
  return threads + "; reads of up to 64 KiB that have to be fetched from the device by io_uring";
}

/// Of each hint in effect where it comes from.
std::string hints_text(const Storage& storage, const std::string& hints_file) {
  io::Hints hints;
  const auto defaults = hints.in_effect();
  const auto given = hints_file.empty() ? std::vector<std::pair<std::string, std::string>>()
                                        : io::read_hints_file(hints_file);
  std::string ignored;
  std::vector<std::string> changed;
  for (const auto& [key, value] : given) {
    if (key == "striping_factor" && std::strcmp(storage.system.name, "lustre") != 0) {
      ignored += fmt::format("  {:<22} {:<12} no effect here, ignored\n", key, value);
      continue;
    }
    const auto before = hints.in_effect();
    hints.set(key, value);
    const auto after = hints.in_effect();
    bool known = std::ranges::any_of(after, [&](const auto& each) { return each.first == key; });
    for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
      if (before[i] != after[i]) {
        known = true;
        changed.push_back(after[i].first);
      }
    }
    if (known) {
      changed.push_back(key);
    } else {
      ignored += fmt::format("  {:<22} {:<12} not known, ignored\n", key, value);
    }
  }
  std::string text;
  for (const auto& [key, value] : hints.in_effect()) {
    const bool from_file = std::ranges::find(changed, key) != changed.end();
    const bool from_system = key == "striping_unit" && hints.unit_bytes == 0;
    const bool one_a_node = key == "cb_nodes" && hints.aggregators == 0;
    text += fmt::format("  {:<22} {:<12} {}\n", key,
                        from_system  ? std::to_string(storage.system.unit_bytes)
                        : one_a_node ? "one a node"
                                     : value,
                        from_file     ? "ROMIO_HINTS"
                        : from_system ? "file system"
                                      : "default");
  }
  return text + ignored;
}

}  // namespace

std::string files_text(const std::string& path, const io::Storage& storage,
                       const std::string& hints_file, const std::string& async_way) {
  std::string text = line("file", what_it_is(path, storage));
  text += line("file system", system_text(storage));
  text += line("space", fmt::format("{} free of {}, in blocks of {}", size_text(storage.free_bytes),
                                    size_text(storage.total_bytes),
                                    size_text(static_cast<std::uint64_t>(storage.block_bytes))));
  text += line("striping", stripes_text(storage));
  text += line("locks", locks_text(storage));
  text += line("atomic mode", atomic_text(storage));
  text += line("collective", collective_text(storage));
  text += line("short runs", short_runs_text(storage));
  text += line("sieving",
               "reads whose gaps are short; writes only with romio_ds_write=enable, under locks");
  text +=
      line("io_uring", storage.io_uring_error == 0
                           ? "this process may use it"
                           : fmt::format("not here ({})", std::strerror(storage.io_uring_error)));
  text += line("non-blocking", async_text(storage, async_way));
  text += "\nhints in effect before those of a program (MPI_File_open)\n";
  if (!hints_file.empty()) {
    const bool readable = std::ifstream(hints_file).good();
    text += fmt::format("  ROMIO_HINTS={}{}\n", hints_file,
                        readable ? "" : ": cannot be read, ignored");
  }
  return text + hints_text(storage, hints_file);
}

int show_files(const std::string& given) {
  const std::string path(io::without_prefix(given));
  const Storage storage = io::find_storage(path);
  if (storage.exists == Storage::Exists::no_folder) {
    fmt::print(stderr,
               "fulmar info: {}: there is neither such a file nor its folder; make the folder, or "
               "name another file\n",
               path);
    return 1;
  }
  const char* hints_file = std::getenv("ROMIO_HINTS");
  const char* async_way = std::getenv("FULMAR_FILES_ASYNC");
  fmt::print("{}", files_text(path, storage, hints_file == nullptr ? "" : hints_file,
                              async_way == nullptr ? "" : async_way));
  return 0;
}

}  // namespace fulmar::info
