// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <array>
#include <cstring>

#include "mpi/attr/attributes.h"
#include "mpi/group/calls.h"
#include "mpi/group/group.h"
#include "mpi/memory_kinds.h"
#include "mpi/rma/calls.h"
#include "mpi/rma/hints.h"
#include "mpi/rma/win.h"

/// What a window tells of itself: group, name, hints, attributes.
namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

AttributeOwner owner_of(Win& win) { return {win.attributes, KeyvalKind::win, win.handle}; }

struct Hint {
  std::string_view key;
  std::string_view preset;  ///< empty: not told until it is set
  bool truth;               ///< true and false are its values
};
constexpr std::array<Hint, 9> known_hints = {{
    {"no_locks", "false", true},
    {"accumulate_ordering", "rar,raw,war,waw", false},
    {"accumulate_ops", "same_op_no_op", false},
    {"same_size", "false", true},
    {"same_disp_unit", "false", true},
    {"mpi_accumulate_granularity", "0", false},
    {"alloc_shared_noncontig", "false", true},
    {"mpi_minimum_memory_alignment", "", false},
    {"mpi_assert_memory_alloc_kinds", "", false},
}};

bool is_hint(std::string_view key, std::string_view value) {
  const auto known = std::find_if(known_hints.begin(), known_hints.end(),
                                  [key](const Hint& hint) { return hint.key == key; });
  if (known == known_hints.end()) return false;
  return !known->truth || value == "true" || value == "false";
}

}  // namespace

void keep_hints(Win& win, const Info* info) {
  if (info == nullptr) return;
  for (const auto& [key, value] : info->entries) {
    if (!is_hint(key, value)) continue;
    const auto same_key = [&](const Info::Entry& hint) { return hint.key == key; };
    const auto old = std::find_if(win.hints.begin(), win.hints.end(), same_key);
    if (old != win.hints.end()) {
      old->value = value;
    } else {
      win.hints.push_back({key, value});
    }
    if (key == "no_locks") win.no_locks = value == "true";
  }
}

Error win_get_group(Library& library, Win& win, MPI_Group& out) {
  return give_group(library, win.comm->group->processes, win.comm->rank, out, win.comm->session);
}

Error win_set_name(Win& win, std::string_view name) {
  win.name_text = name.substr(0, MPI_MAX_OBJECT_NAME - 1);
  win.name = win.name_text.empty() ? nullptr : win.name_text.c_str();
  return {};
}

Error win_get_name(Win* win, char* name, int& length) {
  const std::string_view text =
      win == nullptr ? std::string_view("MPI_WIN_NULL") : std::string_view(win->name_text);
  std::memcpy(name, text.data(), text.size());
  name[text.size()] = '\0';
  length = static_cast<int>(text.size());
  return {};
}

Error win_set_info(Win& win, Info* info) {
  keep_hints(win, info);
  return {};
}

Error win_get_info(Library& library, Win& win, MPI_Info& out) {
  auto* info = library.make<Info>();
  if (info == nullptr) return failure(ErrorClass::no_mem, "no memory for another info object");
  for (const Hint& hint : known_hints) {
    if (!hint.preset.empty()) info->set(hint.key, hint.preset);
  }
  for (const auto& [key, value] : win.hints) info->set(key, value);
  info->set(memory_kinds_key, memory_kinds);
  out = handle_cast<MPI_Info>(*info);
  return {};
}

Error win_set_attr(Library& library, Win& win, int keyval, void* value) {
  return set_attribute(library, owner_of(win), keyval, value);
}

Error win_get_attr(Library& library, Win& win, int keyval, void*& value, int& found) {
  return get_attribute(library, owner_of(win), keyval, value, found);
}

Error win_delete_attr(Library& library, Win& win, int keyval) {
  return delete_attribute(library, owner_of(win), keyval);
}

}  // namespace fulmar::mpi
