// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// The parts of the PMIx standard's C interface that a rank needs (versions 3 to 5 have the same
/// ABI), so that neither its headers nor its library are needed to build Fulmar.
namespace fulmar::runtime::bootstrap::pmix {

inline constexpr int success = 0;
inline constexpr int not_found = -46;

/// A process: a namespace, which is a job, and a rank in it.
struct Proc {
  std::array<char, 256> space{};
  std::uint32_t rank = 0;
};
inline constexpr std::uint32_t rank_of_job = UINT32_MAX - 1;  ///< what belongs to all ranks

/// Kinds of values, those that are used here.
enum class Kind : std::uint16_t {
  boolean = 1,
  string = 3,
  integer = 6,
  int32 = 9,
  unsigned_integer = 11,
  uint16 = 13,
  uint32 = 14,
};

struct Value {
  Kind kind{};
  union {
    bool boolean;
    char* string;
    int integer;
    std::uint32_t uint32;
    std::uint16_t uint16;
    std::array<std::uint64_t, 3> any;  ///< the size of the largest member of the standard's union
  };
};

/// An argument of a call.
struct Info {
  std::array<char, 512> key{};
  std::uint32_t flags = 0;
  Value value{};
};

static_assert(sizeof(Proc) == 260);
static_assert(sizeof(Value) == 32 && offsetof(Value, string) == 8);
static_assert(sizeof(Info) == 552 && offsetof(Info, value) == 520);

/// A program of a spawn. Lists of texts end with a null pointer.
struct App {
  char* program = nullptr;
  char** argv = nullptr;  ///< argv[0] included
  char** environment = nullptr;
  char* folder = nullptr;
  int processes = 0;
  Info* info = nullptr;
  std::size_t info_count = 0;
};

/// The argument and result of a lookup.
struct Published {
  Proc publisher;
  std::array<char, 512> key{};
  Value value{};
};
static_assert(sizeof(App) == 56 && offsetof(App, info) == 40);
static_assert(sizeof(Published) == 808 && offsetof(Published, value) == 776);

inline constexpr std::uint8_t scope_global = 3;  ///< for the ranks of this host and of others

inline constexpr const char* key_collect = "pmix.collect";    ///< of a fence: exchange all data
inline constexpr const char* key_optional = "pmix.optional";  ///< of a get: only what is here
inline constexpr const char* key_job_size = "pmix.job.size";
inline constexpr const char* key_app_number = "pmix.appnum";
inline constexpr const char* key_host = "pmix.host";  ///< of a program to start
inline constexpr const char* key_hostfile = "pmix.hostfile";
inline constexpr const char* key_add_host = "pmix.addhost";
inline constexpr const char* key_add_hostfile = "pmix.addhostfile";
inline constexpr const char* key_bind_to = "pmix.bindto";  ///< of a job to start
inline constexpr const char* key_map_by = "pmix.mapby";
inline constexpr const char* key_universe_size = "pmix.univ.size";

/// The functions of the library. Strings and values that `get` gives are the caller's to free.
struct Functions {
  int (*init)(Proc* self, Info* info, std::size_t count) = nullptr;
  int (*finalize)(const Info* info, std::size_t count) = nullptr;
  int (*abort)(int status, const char* text, Proc* procs, std::size_t count) = nullptr;
  int (*put)(std::uint8_t scope, const char* key, Value* value) = nullptr;
  int (*commit)() = nullptr;
  int (*fence)(const Proc* procs, std::size_t proc_count, const Info* info,
               std::size_t info_count) = nullptr;
  // Null where the library has none.
  int (*spawn)(const Info* info, std::size_t info_count, const App* apps, std::size_t app_count,
               char* space) = nullptr;
  int (*publish)(const Info* info, std::size_t count) = nullptr;
  int (*lookup)(Published* data, std::size_t count, const Info* info,
                std::size_t info_count) = nullptr;
  int (*unpublish)(char** keys, const Info* info, std::size_t count) = nullptr;
  int (*get)(const Proc* proc, const char* key, const Info* info, std::size_t count,
             Value** value) = nullptr;
};

}  // namespace fulmar::runtime::bootstrap::pmix
