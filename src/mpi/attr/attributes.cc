// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/attr/attributes.h"

#include <algorithm>

#include "mpi/errhandler/user_function.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using Entry = AttributeSet::Entry;

constexpr std::uintptr_t nothing_to_do = 0;   // MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, ...
constexpr std::uintptr_t copy_the_value = 1;  // MPI_COMM_DUP_FN, ...

template <class Handle>
Handle as(std::uintptr_t handle) {
  return reinterpret_cast<Handle>(handle);
}

/// Holds a key while a function of the user, which could free it, runs.
class KeyvalUse {
 public:
  KeyvalUse(Keyvals& keyvals, Keyval& keyval) noexcept : keyvals_(keyvals), keyval_(keyval) {
    Keyvals::acquire(keyval);
  }
  ~KeyvalUse() { keyvals_.release(keyval_); }
  KeyvalUse(const KeyvalUse&) = delete;
  KeyvalUse& operator=(const KeyvalUse&) = delete;

 private:
  Keyvals& keyvals_;
  Keyval& keyval_;
};

Error call_delete(const Keyval& keyval, std::uintptr_t owner, void* value) {
  if (keyval.remove.number == nothing_to_do) return {};
  int code = MPI_SUCCESS;
  switch (keyval.kind) {
    case KeyvalKind::comm:
      code = keyval.remove.comm(as<MPI_Comm>(owner), keyval.number, value, keyval.extra_state);
      break;
    case KeyvalKind::type:
      code = keyval.remove.type(as<MPI_Datatype>(owner), keyval.number, value, keyval.extra_state);
      break;
    case KeyvalKind::win:
      code = keyval.remove.win(as<MPI_Win>(owner), keyval.number, value, keyval.extra_state);
      break;
  }
  return Error::from_code(code);
}

/// Sets `copied` to 1 where the new object gets the attribute, with the value `out`.
Error call_copy(const Keyval& keyval, std::uintptr_t owner, void* value, void*& out, int& copied) {
  copied = 0;
  out = value;
  if (keyval.copy.number == nothing_to_do) return {};
  if (keyval.copy.number == copy_the_value) {
    copied = 1;
    return {};
  }
  int code = MPI_SUCCESS;
  switch (keyval.kind) {
    case KeyvalKind::comm:
      code = keyval.copy.comm(as<MPI_Comm>(owner), keyval.number, keyval.extra_state, value, &out,
                              &copied);
      break;
    case KeyvalKind::type:
      code = keyval.copy.type(as<MPI_Datatype>(owner), keyval.number, keyval.extra_state, value,
                              &out, &copied);
      break;
    case KeyvalKind::win:
      code = keyval.copy.win(as<MPI_Win>(owner), keyval.number, keyval.extra_state, value, &out,
                             &copied);
      break;
  }
  return Error::from_code(code);
}

auto find_entry(AttributeSet& set, const Keyval& keyval) {
  return std::find_if(set.entries.begin(), set.entries.end(),
                      [&](const Entry& entry) { return entry.keyval == &keyval; });
}

/// Deletes an attribute that is set. The user's function sees it still there.
Error remove(Library& library, AttributeOwner owner, Keyval& keyval, void* value) {
  const KeyvalUse use(*library.keyvals, keyval);
  const UserFunctionScope scope;
  if (const Error error = call_delete(keyval, owner.handle, value); error.failed()) return error;
  const auto entry = find_entry(owner.attributes, keyval);
  if (entry != owner.attributes.entries.end()) {
    owner.attributes.entries.erase(entry);
    library.keyvals->release(keyval);
  }
  return {};
}

}  // namespace

Error set_attribute(Library& library, AttributeOwner owner, int number, void* value) {
  const auto found = library.keyvals->find(owner.kind, number);
  if (found.failed()) return found.error();
  Keyval& keyval = *found.value();
  const KeyvalUse use(*library.keyvals, keyval);
  const auto old = find_entry(owner.attributes, keyval);
  if (old != owner.attributes.entries.end()) {
    const Error error = remove(library, owner, keyval, old->value);
    if (error.failed()) return error;
  }
  Keyvals::acquire(keyval);
  owner.attributes.entries.push_back({&keyval, value});
  return {};
}

Error get_attribute(Library& library, AttributeOwner owner, int number, void*& value, int& found) {
  found = 0;
  if (Keyvals::is_predefined(owner.kind, number)) {
    void* shown = nullptr;
    if (owner.kind == KeyvalKind::comm) {
      shown = const_cast<int*>(library.keyvals->predefined(number));
      found = shown != nullptr ? 1 : 0;
    }
    for (const auto& fixed : owner.attributes.fixed) {
      if (fixed.number != number) continue;
      shown = fixed.value;
      found = 1;
    }
    if (found != 0) value = shown;
    return {};
  }
  const auto keyval = library.keyvals->find(owner.kind, number, Keyvals::Freed::found);
  if (keyval.failed()) return keyval.error();
  const auto entry = find_entry(owner.attributes, *keyval.value());
  if (entry == owner.attributes.entries.end()) return {};
  value = entry->value;
  found = 1;
  return {};
}

Error delete_attribute(Library& library, AttributeOwner owner, int number) {
  const auto keyval = library.keyvals->find(owner.kind, number, Keyvals::Freed::found);
  if (keyval.failed()) return keyval.error();
  const auto entry = find_entry(owner.attributes, *keyval.value());
  if (entry == owner.attributes.entries.end()) return {};
  return remove(library, owner, *keyval.value(), entry->value);
}

Error copy_attributes(Library& library, AttributeOwner from, AttributeOwner to) {
  const UserFunctionScope scope;
  const std::vector<Entry> originals = from.attributes.entries;  // functions may change the set
  for (const Entry& entry : originals) Keyvals::acquire(*entry.keyval);
  Error result;
  for (const auto& [keyval, value] : originals) {
    void* copy = nullptr;
    int copied = 0;
    if (result.ok()) result = call_copy(*keyval, from.handle, value, copy, copied);
    if (result.ok() && copied != 0) {
      Keyvals::acquire(*keyval);
      to.attributes.entries.push_back({keyval, copy});
    }
    library.keyvals->release(*keyval);
  }
  if (result.failed()) (void)delete_attributes(library, to);
  return result;
}

Error delete_attributes(Library& library, AttributeOwner owner) {
  while (!owner.attributes.entries.empty()) {
    const Entry last = owner.attributes.entries.back();
    const Error error = remove(library, owner, *last.keyval, last.value);
    if (error.failed()) return error;
  }
  return {};
}

}  // namespace fulmar::mpi
