// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/info/calls.h"

#include <algorithm>
#include <cstring>

#include "mpi/hardware.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

Error create(Library& library, Info*& info, MPI_Info& out) {
  info = library.make<Info>();
  if (info == nullptr) return failure(ErrorClass::no_mem, "no memory for another info object");
  out = handle_cast<MPI_Info>(*info);
  return {};
}

Error check_key(std::string_view key) {
  if (!key.empty() && key.size() < MPI_MAX_INFO_KEY) return {};
  return failure(ErrorClass::info_key, "argument key: %zu bytes; a key has 1 to %d", key.size(),
                 MPI_MAX_INFO_KEY - 1);
}

Error check_writable(const Info& info) {
  if (!info.predefined) return {};
  return failure(ErrorClass::info,
                 "argument info: MPI_INFO_ENV cannot be changed; use MPI_Info_dup or "
                 "MPI_Info_create_env");
}

void copy_text(const std::string& text, std::size_t bytes, char* to) {
  bytes = std::min(bytes, text.size());
  std::memcpy(to, text.data(), bytes);
  to[bytes] = '\0';
}

}  // namespace

Error info_create(Library& library, MPI_Info& out) {
  Info* made = nullptr;
  return create(library, made, out);
}

Error get_hw_resource_info(Library& library, MPI_Info& out) {
  Info* made = nullptr;
  if (const Error error = create(library, made, out); error.failed()) return error;
  const HardwareUse use = own_hardware_use();
  made->set(shared_memory_resource, "true");
  for (std::size_t type = 0; type < hardware_types.size(); ++type) {
    made->set(hardware_types[type], use.objects[type] == HardwareUse::several ? "false" : "true");
  }
  return {};
}

Error info_create_env(Library& library, int argc, char** argv, MPI_Info& out) {
  Info* made = nullptr;
  const Error error = create(library, made, out);
  if (error.failed()) return error;
  const auto* env = static_cast<const EnvInfo*>(library.find<Info>(MPI_INFO_ENV));
  if (env != nullptr && !env->entries.empty()) {
    made->entries = env->entries;
    return {};
  }
  LaunchInfo launch = env != nullptr ? env->launch : LaunchInfo{};
  for (int i = 0; argv != nullptr && i < argc && argv[i] != nullptr; ++i) {
    launch.command_line.emplace_back(argv[i]);
  }
  describe_process(*made, launch);
  return {};
}

Error info_dup(Library& library, Info& info, MPI_Info& out) {
  Info* made = nullptr;
  const Error error = create(library, made, out);
  if (error.ok()) made->entries = info.entries;
  return error;
}

Error info_free(Library& library, Handle<Info> info) {
  if (info.object->predefined) {
    return failure(ErrorClass::info, "argument info: MPI_INFO_ENV cannot be freed");
  }
  library.retire(*info.object);
  *info.where = MPI_INFO_NULL;
  return {};
}

Error info_set(Library&, Info& info, std::string_view key, std::string_view value) {
  if (const Error error = check_writable(info); error.failed()) return error;
  if (const Error error = check_key(key); error.failed()) return error;
  if (value.size() >= MPI_MAX_INFO_VAL) {
    return failure(ErrorClass::info_value, "argument value: %zu bytes are more than the %d allowed",
                   value.size(), MPI_MAX_INFO_VAL - 1);
  }
  info.set(key, value);
  return {};
}

Error info_delete(Library&, Info& info, std::string_view key) {
  if (const Error error = check_writable(info); error.failed()) return error;
  if (const Error error = check_key(key); error.failed()) return error;
  if (info.erase(key)) return {};
  return failure(ErrorClass::info_nokey, "argument key: \"%.*s\" is not set",
                 static_cast<int>(key.size()), key.data());
}

Error info_get(Library&, Info& info, std::string_view key, int room, char* value, int& found) {
  if (const Error error = check_key(key); error.failed()) return error;
  if (room < 0) return failure(ErrorClass::arg, "argument valuelen: %d is negative", room);
  const std::string* text = info.find(key);
  found = text != nullptr ? 1 : 0;
  if (text != nullptr) copy_text(*text, static_cast<std::size_t>(room), value);
  return {};
}

Error info_get_string(Library&, Info& info, std::string_view key, int& size, char* value,
                      int& found) {
  if (const Error error = check_key(key); error.failed()) return error;
  if (size < 0) return failure(ErrorClass::arg, "argument buflen: %d is negative", size);
  const std::string* text = info.find(key);
  found = text != nullptr ? 1 : 0;
  if (text == nullptr) return {};
  if (size > 0) copy_text(*text, static_cast<std::size_t>(size - 1), value);
  size = static_cast<int>(text->size()) + 1;
  return {};
}

Error info_get_valuelen(Library&, Info& info, std::string_view key, int& length, int& found) {
  if (const Error error = check_key(key); error.failed()) return error;
  const std::string* text = info.find(key);
  found = text != nullptr ? 1 : 0;
  if (text != nullptr) length = static_cast<int>(text->size());
  return {};
}

Error info_get_nkeys(Library&, Info& info, int& count) {
  count = static_cast<int>(info.entries.size());
  return {};
}

Error info_get_nthkey(Library&, Info& info, int n, char* key) {
  if (n < 0 || static_cast<std::size_t>(n) >= info.entries.size()) {
    return failure(ErrorClass::arg, "argument n: %d; the info object has %zu keys, counted from 0",
                   n, info.entries.size());
  }
  const std::string& text = info.entries[static_cast<std::size_t>(n)].key;
  copy_text(text, text.size(), key);
  return {};
}

}  // namespace fulmar::mpi
