// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <vector>

#include "mpi/args.h"
#include "mpi/attr/keyvals.h"
#include "mpi/datatype/datatype.h"
#include "mpi/errhandler/errhandler.h"
#include "mpi/group/group.h"
#include "mpi/info/info.h"
#include "mpi/library.h"
#include "mpi/op/op.h"

namespace fulmar::mpi {

/// The state behind the objects that need no communication, made as `runtime` makes it, but with an
/// abort that is only noted.
class Objects : public testing::Test {
 protected:
  /// An object on which errors are raised, in the place of a communicator.
  struct Holder : ErrorHolder {
    explicit Holder(ObjectKind object_kind) : ErrorHolder(object_kind) {}
  };

  template <class T, class Abi>
  T& find(Abi handle) {
    T* object = library.find<T>(handle);
    if (object == nullptr) ADD_FAILURE() << "handle names nothing";
    return *object;
  }
  Datatype& type(MPI_Datatype handle) { return find<Datatype>(handle); }
  Errhandler& errhandler(MPI_Errhandler handle) { return find<Errhandler>(handle); }

  static void note_abort(void* context, int code) {
    static_cast<Objects*>(context)->aborted_with.push_back(code);
  }

  /// No test may leave an object behind.
  void TearDown() override {
    for (std::size_t kind = 0; kind < object_kind_count; ++kind) {
      EXPECT_EQ(library.live(static_cast<ObjectKind>(kind)), kept[kind])
          << "leaked objects of kind " << kind;
    }
  }

  std::vector<int> aborted_with;
  /// Objects that the library itself keeps, by kind.
  std::array<std::size_t, object_kind_count> kept{};
  Library library;
  ErrorState errors{library, {note_abort, this}};
  Keyvals keyvals{library};
  PredefinedInfo info{library};
  PredefinedGroup group{library};
  PredefinedDatatypes datatypes{library};
  PredefinedOps ops{library};
};

inline base::ErrorClass class_of(const base::Error& error) { return error.error_class(); }

}  // namespace fulmar::mpi
