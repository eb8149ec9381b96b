// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "mpi/attr/attributes.h"
#include "mpi/group/calls.h"
#include "mpi/group/group.h"
#include "mpi/memory_kinds.h"
#include "mpi/rma/agent.h"
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

bool is_truth(std::string_view value) { return value == "true" || value == "false"; }

/// "none", or some of the four orders.
bool is_ordering(std::string_view value) {
  if (value == "none") return true;
  constexpr std::array<std::string_view, 4> orders = {"rar", "raw", "war", "waw"};
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    const std::string_view order = value.substr(0, comma);
    if (std::find(orders.begin(), orders.end(), order) == orders.end()) return false;
    if (comma + 1 == value.size()) return false;
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
  return true;
}

bool is_sameness(std::string_view value) { return value == "same_op" || value == "same_op_no_op"; }

bool is_natural(std::string_view value) {
  constexpr std::size_t most_digits = 18;
  const auto is_digit = [](char each) { return each >= '0' && each <= '9'; };
  return !value.empty() && value.size() <= most_digits &&
         std::all_of(value.begin(), value.end(), is_digit);
}

bool is_anything(std::string_view /*value*/) { return true; }

struct Hint {
  std::string_view key;
  std::string_view preset;  ///< empty: not told until it is set
  bool (*is_valid)(std::string_view value);
  unsigned flavors;  ///< that know it, a bit each
  bool lasting;      ///< says something of the window's memory, which is there when it is made
};

constexpr unsigned bit_of(int flavor) noexcept {
  switch (flavor) {
    case MPI_WIN_FLAVOR_ALLOCATE:
      return 1;
    case MPI_WIN_FLAVOR_SHARED:
      return 2;
    case MPI_WIN_FLAVOR_DYNAMIC:
      return 4;
    default:
      return 8;
  }
}
constexpr unsigned shares = bit_of(MPI_WIN_FLAVOR_SHARED);
constexpr unsigned gives = bit_of(MPI_WIN_FLAVOR_ALLOCATE) | shares;
constexpr unsigned has_size = bit_of(MPI_WIN_FLAVOR_CREATE) | gives;
constexpr unsigned all = bit_of(MPI_WIN_FLAVOR_DYNAMIC) | has_size;

constexpr std::array<Hint, 9> known_hints = {{
    {"no_locks", "false", is_truth, all, false},
    {"accumulate_ordering", "rar,raw,war,waw", is_ordering, all, false},
    {"accumulate_ops", "same_op_no_op", is_sameness, all, false},
    {"same_size", "false", is_truth, has_size, true},
    {"same_disp_unit", "false", is_truth, has_size, true},
    {"mpi_accumulate_granularity", "0", is_natural, all, false},
    {"alloc_shared_noncontig", "false", is_truth, shares, true},
    {"mpi_minimum_memory_alignment", "", is_natural, gives, true},
    {"mpi_assert_memory_alloc_kinds", "", is_anything, all, false},
}};

bool applies(const Hint& hint, const Win& win) noexcept {
  return (hint.flavors & bit_of(win.flavor)) != 0;
}

bool is_kept(const Win& win, HintTime time, std::string_view key, std::string_view value) {
  const auto known = std::find_if(known_hints.begin(), known_hints.end(),
                                  [key](const Hint& hint) { return hint.key == key; });
  if (known == known_hints.end() || !applies(*known, win)) return false;
  return known->is_valid(value) && (time == HintTime::making || !known->lasting);
}

/// How operations on a rank's memory are carried out, short of exceptions for their data.
enum class AccessWay : std::uint8_t { stores, kernel, adapter, requests };
constexpr std::array<const char*, 4> way_names = {"loads and stores", "calls and kernel copies",
                                                  "adapter", "requests"};

AccessWay way_to(const Win& win, int rank) {
  const RmaTarget& target = win.targets[static_cast<std::size_t>(rank)];
  if (target.direct) return AccessWay::stores;
  const bool on_node = target.control != nullptr && !win.node.by_requests;
  if (on_node && (target.remote != 0 || win.node.tables.lines != 0)) return AccessWay::kernel;
  const WinAdapter* const adapter = win.origin.adapter.get();
  return adapter != nullptr && adapter->reaches(rank) ? AccessWay::adapter : AccessWay::requests;
}

/// "loads and stores 3, requests 4": how many of the other ranks are reached so.
std::string ways_of(const Win& win) {
  std::array<int, way_names.size()> counts{};
  for (int rank = 0; rank < win.size(); ++rank) {
    if (rank != win.rank()) ++counts[static_cast<std::size_t>(way_to(win, rank))];
  }
  std::string text;
  for (std::size_t way = 0; way < counts.size(); ++way) {
    if (counts[way] == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(way_names[way]) + " " +
            std::to_string(counts[way]);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

void keep_hints(Win& win, const Info* info, HintTime time) {
  if (info == nullptr) return;
  for (const auto& [key, value] : info->entries) {
    if (!is_kept(win, time, key, value)) continue;
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
  keep_hints(win, info, HintTime::later);
  return {};
}

Error win_get_info(Library& library, Win& win, MPI_Info& out) {
  auto* info = library.make<Info>();
  if (info == nullptr) return failure(ErrorClass::no_mem, "no memory for another info object");
  for (const Hint& hint : known_hints) {
    if (!hint.preset.empty() && applies(hint, win)) info->set(hint.key, hint.preset);
  }
  for (const auto& [key, value] : win.hints) info->set(key, value);
  info->set(memory_kinds_key, memory_kinds);
  const AgentChoice choice = agent_of(win);
  info->set("fulmar_accumulate_agent",
            choice.agent == AccumulateAgent::adapter ? "adapter" : "target");
  info->set("fulmar_accumulate_agent_reason", choice.why);
  info->set("fulmar_ways", ways_of(win));
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
