// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <memory>

#include "base/error.h"
#include "io/shared_word.h"
#include "mpi/args.h"
#include "mpi/comm/comm.h"

namespace fulmar::mpi {

/// The file pointer that the processes of a file share (MPI 5.0 section 14.4.4): a number of bytes
/// of the stream of their views.
///
/// Where all of them run on one node it is in memory that they share, and an atomic addition
/// moves it. Otherwise rank 0 keeps it and the others send messages, which rank 0 answers whenever
/// it makes progress: while it waits in MPI, or by its progress thread (FULMAR_PROGRESS_THREAD).
class SharedPointer {
 public:
  SharedPointer() noexcept;
  ~SharedPointer();
  SharedPointer(const SharedPointer&) = delete;
  SharedPointer& operator=(const SharedPointer&) = delete;

  /// Where it is stored: in memory of the node if possible, or at rank 0 in any case.
  enum class Place : std::uint8_t { memory_if_possible, messages };
  /// Collective. Without memory of the node it uses messages; fails only where messages do.
  base::Error open(Comm& comm, Place place);
  /// After all ranks are done with it.
  void close() noexcept;

  /// Moves it on and gives the old value.
  [[nodiscard]] base::Result<Count> add(Count bytes);
  [[nodiscard]] base::Result<Count> get() { return add(0); }
  /// At rank 0 only, while no other rank uses it.
  void set(Count bytes) noexcept;

 private:
  class Keeper;

  [[nodiscard]] base::Result<io::SharedWord> own_word();
  [[nodiscard]] base::Result<io::SharedWord> word_at(const io::SharedWord::Place& place);
  base::Error share_memory(bool& shared);
  [[nodiscard]] base::Result<Count> ask(Count bytes);

  Comm* comm_ = nullptr;
  io::SharedWord word_;
  bool in_memory_ = false;
  int request_tag_ = 0;
  int answer_tag_ = 0;
  bool asking_ = false;             ///< a thread waits for an answer
  std::unique_ptr<Keeper> keeper_;  ///< at rank 0, without memory of the node
};

}  // namespace fulmar::mpi
