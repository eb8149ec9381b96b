// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/clock.h"
#include "mpi/info/info.h"
#include "mpi/tool/calls.h"
#include "mpi/tool/text.h"

namespace fulmar::mpi {
namespace {

constexpr MPI_Count ticks_per_second = 1'000'000'000;
constexpr int no_level = -1;

bool is_event(int index) { return index >= 0 && index < static_cast<int>(event_types().size()); }

/// There is one source of events.
bool is_source(int index) { return index == 0; }

EventRegistration* find_registration(Tool& tool, MPI_T_event_registration handle) {
  EventRegistration* found = tool.events().registrations.find(handle);
  return found == nullptr || found->freed ? nullptr : found;
}

/// The index of a safety level; `no_level` for an invalid one.
int level_of(MPI_T_cb_safety cb_safety) {
  int at = 0;
  for (const int level : EventRegistration::levels) {
    if (level == static_cast<int>(cb_safety)) return at;
    ++at;
  }
  return no_level;
}

bool is_info(Tool& tool, MPI_Info info) {
  return info == MPI_INFO_NULL || tool.library().find<Info>(info) != nullptr;
}

/// There are no hints: the tool gets an empty object, which it frees.
int give_info(Tool& tool, MPI_Info* info) {
  if (info == nullptr) return MPI_SUCCESS;
  const Info* made = tool.library().make<Info>();
  if (made == nullptr) return MPI_T_ERR_MEMORY;
  *info = handle_cast<MPI_Info>(*made);
  return MPI_SUCCESS;
}

MPI_Datatype datatype_of(EventField field) {
  return field == EventField::amount ? MPI_UNSIGNED_LONG_LONG : MPI_INT;
}

}  // namespace

int t_source_get_num(Tool& /*tool*/, int* count) {
  if (count == nullptr) return MPI_T_ERR_INVALID;
  *count = 1;
  return MPI_SUCCESS;
}

int t_source_get_info(Tool& tool, int index, char* name, int* name_len, char* desc, int* desc_len,
                      MPI_T_source_order* ordering, MPI_Count* ticks, MPI_Count* max_ticks,
                      MPI_Info* info) {
  if (!is_source(index)) return MPI_T_ERR_INVALID_INDEX;
  give_text("fulmar", name, name_len);
  give_text("What happens in the library. Time is that of CLOCK_MONOTONIC, in nanoseconds.", desc,
            desc_len);
  // Callbacks that may call all of MPI get events later than others do.
  if (ordering != nullptr) *ordering = MPI_T_SOURCE_UNORDERED;
  give(ticks, ticks_per_second);
  give(max_ticks, std::numeric_limits<MPI_Count>::max());
  return give_info(tool, info);
}

int t_source_get_timestamp(Tool& /*tool*/, int index, MPI_Count* timestamp) {
  if (!is_source(index)) return MPI_T_ERR_INVALID_INDEX;
  if (timestamp == nullptr) return MPI_T_ERR_INVALID;
  *timestamp = static_cast<MPI_Count>(base::now_ns());
  return MPI_SUCCESS;
}

int t_event_get_num(Tool& /*tool*/, int* count) {
  if (count == nullptr) return MPI_T_ERR_INVALID;
  *count = static_cast<int>(event_types().size());
  return MPI_SUCCESS;
}

int t_event_get_info(Tool& tool, int index, char* name, int* name_len, int* verbosity,
                     MPI_Datatype types[], MPI_Aint displacements[], int* num_elements,
                     MPI_T_enum* enumtype, MPI_Info* info, char* desc, int* desc_len, int* bind) {
  if (!is_event(index)) return MPI_T_ERR_INVALID_INDEX;
  const auto place = static_cast<std::size_t>(index);
  const EventType& type = event_types()[place];
  give_text(type.name, name, name_len);
  give(verbosity, type.verbosity);
  if (num_elements != nullptr) {
    const auto room = static_cast<std::size_t>(std::max(*num_elements, 0));
    for (std::size_t i = 0; i < room && i < type.elements.size(); ++i) {
      if (types != nullptr) types[i] = datatype_of(type.elements[i].field);
      if (displacements != nullptr) {
        displacements[i] = static_cast<MPI_Aint>(displacement_of(type, i));
      }
    }
    *num_elements = static_cast<int>(type.elements.size());
  }
  if (enumtype != nullptr) {
    const Enumeration* elements = tool.tables().event_elements[place];
    *enumtype = reinterpret_cast<MPI_T_enum>(const_cast<Enumeration*>(elements));
  }
  give_text(type.description, desc, desc_len);
  give(bind, int{MPI_T_BIND_NO_OBJECT});
  return give_info(tool, info);
}

int t_event_get_index(Tool& /*tool*/, const char* name, int* index) {
  if (name == nullptr || index == nullptr) return MPI_T_ERR_INVALID;
  int at = 0;
  for (const EventType& type : event_types()) {
    if (std::strcmp(type.name, name) == 0) {
      *index = at;
      return MPI_SUCCESS;
    }
    ++at;
  }
  return MPI_T_ERR_INVALID_NAME;
}

int t_event_handle_alloc(Tool& tool, int index, void* /*object*/, MPI_Info info,
                         MPI_T_event_registration* registration) {
  if (!is_event(index)) return MPI_T_ERR_INVALID_INDEX;
  if (registration == nullptr || !is_info(tool, info)) return MPI_T_ERR_INVALID;
  const EventRegistration* made =
      tool.events().registrations.make(&event_types()[static_cast<std::size_t>(index)]);
  if (made == nullptr) return MPI_T_ERR_OUT_OF_HANDLES;
  *registration = tool.events().registrations.handle_of(*made);
  return MPI_SUCCESS;
}

int t_event_handle_free(Tool& tool, MPI_T_event_registration registration, void* user_data,
                        MPI_T_event_free_cb_function* function) {
  EventRegistration* found = find_registration(tool, registration);
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  found->on_free = function;
  found->free_data = user_data;
  tool.events().free(*found);
  tool.update_watch();
  return MPI_SUCCESS;
}

int t_event_handle_get_info(Tool& tool, MPI_T_event_registration registration, MPI_Info* info) {
  if (find_registration(tool, registration) == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  return info == nullptr ? int{MPI_T_ERR_INVALID} : give_info(tool, info);
}

int t_event_handle_set_info(Tool& tool, MPI_T_event_registration registration, MPI_Info info) {
  if (find_registration(tool, registration) == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  return is_info(tool, info) ? int{MPI_SUCCESS} : int{MPI_T_ERR_INVALID};
}

int t_event_register_callback(Tool& tool, MPI_T_event_registration registration,
                              MPI_T_cb_safety cb_safety, MPI_Info info, void* user_data,
                              MPI_T_event_cb_function* function) {
  EventRegistration* found = find_registration(tool, registration);
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  const int level = level_of(cb_safety);
  if (level == no_level || !is_info(tool, info)) return MPI_T_ERR_INVALID;
  found->callbacks[static_cast<std::size_t>(level)] = {function, user_data};
  tool.update_watch();
  return MPI_SUCCESS;
}

int t_event_callback_get_info(Tool& tool, MPI_T_event_registration registration,
                              MPI_T_cb_safety cb_safety, MPI_Info* info) {
  if (find_registration(tool, registration) == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (level_of(cb_safety) == no_level || info == nullptr) return MPI_T_ERR_INVALID;
  return give_info(tool, info);
}

int t_event_callback_set_info(Tool& tool, MPI_T_event_registration registration,
                              MPI_T_cb_safety cb_safety, MPI_Info info) {
  if (find_registration(tool, registration) == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (level_of(cb_safety) == no_level || !is_info(tool, info)) return MPI_T_ERR_INVALID;
  return MPI_SUCCESS;
}

int t_event_set_dropped_handler(Tool& tool, MPI_T_event_registration registration,
                                MPI_T_event_dropped_cb_function* function) {
  EventRegistration* found = find_registration(tool, registration);
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  found->on_dropped = function;
  return MPI_SUCCESS;
}

int t_event_read(Tool& tool, MPI_T_event_instance instance, int element, void* buffer) {
  const EventInstance* found = tool.events().find(instance);
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (element < 0 || element >= static_cast<int>(found->type->elements.size())) {
    return MPI_T_ERR_INVALID_INDEX;
  }
  if (buffer == nullptr) return MPI_T_ERR_INVALID;
  found->store(static_cast<std::size_t>(element), buffer);
  return MPI_SUCCESS;
}

int t_event_copy(Tool& tool, MPI_T_event_instance instance, void* buffer) {
  const EventInstance* found = tool.events().find(instance);
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (buffer == nullptr) return MPI_T_ERR_INVALID;
  for (std::size_t i = 0; i < found->type->elements.size(); ++i) {
    found->store(i, static_cast<std::byte*>(buffer) + displacement_of(*found->type, i));
  }
  return MPI_SUCCESS;
}

int t_event_get_timestamp(Tool& tool, MPI_T_event_instance instance, MPI_Count* timestamp) {
  const EventInstance* found = tool.events().find(instance);
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (timestamp == nullptr) return MPI_T_ERR_INVALID;
  *timestamp = static_cast<MPI_Count>(found->timestamp_ns);
  return MPI_SUCCESS;
}

int t_event_get_source(Tool& tool, MPI_T_event_instance instance, int* source) {
  if (tool.events().find(instance) == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (source == nullptr) return MPI_T_ERR_INVALID;
  *source = 0;
  return MPI_SUCCESS;
}

}  // namespace fulmar::mpi
