// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "mpi/attr/keyvals.h"

namespace fulmar::mpi {

/// The attributes of one object, in the order in which they were set.
struct AttributeSet {
  struct Entry {
    Keyval* keyval;
    void* value;
  };
  /// An attribute that the library itself sets (MPI_WIN_BASE); no functions are called for it.
  struct Fixed {
    int number;
    void* value;
  };
  std::vector<Entry> entries;
  std::vector<Fixed> fixed;
};

/// An object with attributes, as the functions below see it.
struct AttributeOwner {
  AttributeSet& attributes;
  KeyvalKind kind;
  std::uintptr_t handle;
};

// The functions of the user that these call may call MPI again, also for the same object. Errors
// that they return are handed on; the attribute then stays as it was.

/// Sets an attribute; an old value is deleted first.
base::Error set_attribute(Library& library, AttributeOwner owner, int keyval, void* value);
/// Sets `found` to 1 and `value` where the attribute exists, predefined ones included, else `found`
/// to 0.
base::Error get_attribute(Library& library, AttributeOwner owner, int keyval, void*& value,
                          int& found);
/// Deleting an attribute that is not set succeeds, as programs expect it.
base::Error delete_attribute(Library& library, AttributeOwner owner, int keyval);

/// Copies what the keys' functions allow, in the order of setting, to a new object. On an error the
/// copies made so far are deleted again.
base::Error copy_attributes(Library& library, AttributeOwner from, AttributeOwner to);
/// Deletes all attributes, the last set first. Ends at the first error; the rest stays.
base::Error delete_attributes(Library& library, AttributeOwner owner);

}  // namespace fulmar::mpi
