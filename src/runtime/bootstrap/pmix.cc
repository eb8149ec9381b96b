// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/bootstrap/pmix.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "runtime/bootstrap/pmix_library.h"

namespace fulmar::runtime::bootstrap {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using base::Result;
using pmix::Info;
using pmix::Kind;
using pmix::Proc;
using pmix::Value;

constexpr std::uint32_t most_pmix_ranks = 1U << 24;
constexpr const char* library_option = pmix_library_option;

struct ValueDeleter {
  void operator()(Value* value) const noexcept {
    if (value->kind == Kind::string) std::free(value->string);
    std::free(value);
  }
};
using OwnedValue = std::unique_ptr<Value, ValueDeleter>;

Info flag(const char* key) {
  Info info;
  std::strncpy(info.key.data(), key, info.key.size() - 1);
  info.value.kind = Kind::boolean;
  info.value.boolean = true;
  return info;
}

Error call_failure(const char* call, int status) {
  return failure(ErrorClass::other,
                 "%s fails with status %d; is the launcher alive, and does every rank use the same "
                 "version of libpmix (%s)?",
                 call, status, library_option);
}

/// A value that is known without asking the launcher; null if there is none.
OwnedValue known_value(const pmix::Functions& functions, const Proc& proc, const char* key) {
  const Info optional = flag(pmix::key_optional);
  Value* value = nullptr;
  if (functions.get(&proc, key, &optional, 1, &value) != pmix::success) return nullptr;
  return OwnedValue(value);
}

std::optional<std::uint32_t> known_number(const pmix::Functions& functions, const Proc& proc,
                                          const char* key) {
  const OwnedValue value = known_value(functions, proc, key);
  if (value == nullptr) return std::nullopt;
  switch (value->kind) {
    case Kind::uint32:
    case Kind::unsigned_integer:
      return value->uint32;
    case Kind::integer:
    case Kind::int32:
      return static_cast<std::uint32_t>(value->integer);
    case Kind::uint16:
      return value->uint16;
    default:
      return std::nullopt;
  }
}

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

/// Never closed: the library has threads of its own.
Result<pmix::Functions> load_library() {
  std::string tried;
  for (const std::string& name : pmix_library_candidates()) {
    if (name.find('/') != std::string::npos && ::access(name.c_str(), R_OK) != 0 &&
        std::getenv(library_option) == nullptr) {
      continue;
    }
    void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* reason = ::dlerror();
      tried += (tried.empty() ? "" : "; ") + std::string(reason == nullptr ? "?" : reason);
      continue;
    }
    pmix::Functions found;
    if (find(library, "PMIx_Init", found.init) && find(library, "PMIx_Finalize", found.finalize) &&
        find(library, "PMIx_Abort", found.abort) && find(library, "PMIx_Put", found.put) &&
        find(library, "PMIx_Commit", found.commit) && find(library, "PMIx_Fence", found.fence) &&
        find(library, "PMIx_Get", found.get)) {
      (void)find(library, "PMIx_Spawn", found.spawn);
      (void)find(library, "PMIx_Publish", found.publish);
      (void)find(library, "PMIx_Lookup", found.lookup);
      (void)find(library, "PMIx_Unpublish", found.unpublish);
      return found;
    }
    tried += (tried.empty() ? "" : "; ") + name + " lacks functions of PMIx";
  }
  return failure(ErrorClass::other,
                 "the launcher speaks PMIx (PMIX_NAMESPACE=%s), but its library cannot be opened: "
                 "%.200s; install libpmix2, or let %s name the launcher's %s",
                 std::getenv("PMIX_NAMESPACE"), tried.c_str(), library_option, pmix_library_name);
}

}  // namespace

Result<std::unique_ptr<Bootstrap>> Pmix::open_from_environment() {
  const auto functions = load_library();
  if (functions.failed()) return functions.error();
  return open(functions.value());
}

Result<std::unique_ptr<Bootstrap>> Pmix::open(const pmix::Functions& functions) {
  auto self = std::make_unique<Pmix>(functions);
  if (const Error error = self->begin(); error.failed()) return error;
  return std::unique_ptr<Bootstrap>(std::move(self));
}

Error Pmix::begin() {
  const int status = functions_.init(&self_, nullptr, 0);
  if (status != pmix::success) {
    return failure(ErrorClass::other,
                   "PMIx_Init fails with status %d; is the launcher that set PMIX_NAMESPACE and "
                   "PMIX_RANK alive? Unset both to run the program alone",
                   status);
  }
  self_.space.back() = '\0';
  const auto size = known_number(functions_, proc_of(pmix::rank_of_job), pmix::key_job_size);
  if (!size || *size < 1 || *size > most_pmix_ranks || self_.rank >= *size) {
    return failure(ErrorClass::other,
                   "the launcher says that this process is rank %u of %u (PMIx), which cannot be",
                   self_.rank, size.value_or(0));
  }
  rank_ = self_.rank;
  size_ = *size;
  const auto program = known_number(functions_, self_, pmix::key_app_number).value_or(0);
  appnum_ = std::max(static_cast<int>(program), 0);
  return {};
}

std::uint32_t Pmix::universe_size() {
  return known_number(functions_, proc_of(pmix::rank_of_job), pmix::key_universe_size).value_or(0);
}

Proc Pmix::proc_of(std::uint32_t rank) const noexcept {
  Proc proc = self_;
  proc.rank = rank;
  return proc;
}

/// Servers may give other hosts' nodes to some ranks only (seen: Slurm's), and all ranks must
/// use the same source. Values that the ranks publish themselves are here after one more fence.
Result<std::vector<std::uint32_t>> Pmix::launcher_nodes() { return std::vector<std::uint32_t>{}; }

Error Pmix::publish(std::string_view key, std::string_view value) {
  const std::string name = "fulmar." + std::string(key);
  std::string text(value);
  Value put;
  put.kind = Kind::string;
  put.string = text.data();
  const int status = functions_.put(pmix::scope_global, name.c_str(), &put);
  return status == pmix::success ? Error{} : call_failure("PMIx_Put", status);
}

/// Always with all data: after a fence without data, other hosts' values are requested one by one,
/// which some servers answer with an error.
Error Pmix::fence() {
  if (const int status = functions_.commit(); status != pmix::success) {
    return call_failure("PMIx_Commit", status);
  }
  const Info collect = flag(pmix::key_collect);
  const int status = functions_.fence(nullptr, 0, &collect, 1);
  return status == pmix::success ? Error{} : call_failure("PMIx_Fence", status);
}

Result<std::string> Pmix::lookup(std::uint32_t rank, std::string_view key) {
  const std::string name = "fulmar." + std::string(key);
  const Proc proc = proc_of(rank);
  Value* found = nullptr;
  const int status = functions_.get(&proc, name.c_str(), nullptr, 0, &found);
  if (status != pmix::success || found == nullptr) {
    return failure(ErrorClass::other,
                   "PMIx_Get of \"%s\" of rank %u fails with status %d; is the launcher alive, and "
                   "does every rank use the same version of libpmix (%s)?",
                   name.c_str(), rank, status, library_option);
  }
  const OwnedValue value(found);
  if (value->kind != Kind::string || value->string == nullptr || *value->string == '\0') {
    return failure(ErrorClass::other, "what rank %u published under \"%s\" is no text (PMIx)", rank,
                   name.c_str());
  }
  return std::string(value->string);
}

void Pmix::abort(int code, const char* text) noexcept { functions_.abort(code, text, nullptr, 0); }

/// Without the fence a launcher could mistake the first rank to leave for one that died.
Error Pmix::finalize() {
  int status = functions_.fence(nullptr, 0, nullptr, 0);
  if (status != pmix::success) return call_failure("PMIx_Fence", status);
  status = functions_.finalize(nullptr, 0);
  return status == pmix::success ? Error{} : call_failure("PMIx_Finalize", status);
}

}  // namespace fulmar::runtime::bootstrap
