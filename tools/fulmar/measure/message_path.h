// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <memory>

#include "fulmar/measure/tests.h"

namespace fulmar::measure {

/// Messages of one length in both directions between the two ranks of a team, by one of the interfaces. Made and gone
/// on both ranks together.
class MessagePath {
 public:
  MessagePath() = default;
  MessagePath(const MessagePath&) = delete;
  MessagePath& operator=(const MessagePath&) = delete;
  virtual ~MessagePath() = default;

  /// Starts one. At most `window` more than the other rank has received, but for RWAPI.
  virtual void start() = 0;
  /// The same without data.
  virtual void start_empty() = 0;
  /// Returns when what was started needs nothing of this rank any more.
  virtual void complete() = 0;
  /// Returns when so many more have come.
  virtual void receive(int count) = 0;
};

enum class ViplMemory { registered, allocated };

[[nodiscard]] std::unique_ptr<MessagePath> make_rwapi_path(const Team& team, std::size_t bytes);
[[nodiscard]] std::unique_ptr<MessagePath> make_sisci_path(const Team& team, std::size_t bytes);
[[nodiscard]] std::unique_ptr<MessagePath> make_vipl_path(const Team& team, std::size_t bytes,
                                                          ViplMemory memory);

/// Ends the job with a line on stderr, unless it went well.
void require(bool went_well, const char* call);
/// Gives the other rank `own`, and returns its value.
template <class T>
[[nodiscard]] T swap_values(const Team& team, T own) {
  constexpr int tag = 7006;
  T other{};
  MPI_Sendrecv(&own, sizeof own, MPI_BYTE, 1 - team.rank, tag, &other, sizeof other, MPI_BYTE,
               1 - team.rank, tag, team.comm, MPI_STATUS_IGNORE);
  return other;
}

/// A library that is loaded for the rest of the program.
class LoadedLibrary {
 public:
  /// `file` as the dynamic linker finds it.
  explicit LoadedLibrary(const char* file);
  [[nodiscard]] bool is_there() const { return handle_ != nullptr; }
  /// Requires that it is there.
  template <class Function>
  void find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(symbol(name));
    require(function != nullptr, name);
  }

 private:
  [[nodiscard]] void* symbol(const char* name) const;
  void* handle_;
};

inline constexpr const char* rwapi_file = "librwapi.so.1";
inline constexpr const char* sisci_file = "libsisci.so.1";
inline constexpr const char* vipl_file = "libvipl.so.1";

}  // namespace fulmar::measure
