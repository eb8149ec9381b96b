// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <utility>

#include "compat/arguments.h"
#include "compat/calls.h"
#include "compat/report.h"
#include "fortran/procedure_pool.h"

// The tool interface (MPI 5.0 chapter 15): what a variable is bound to, and functions that events call.

namespace fulmar::compat {
namespace {

constexpr int most_functions = 64;
fortran::ProcedurePool<most_functions> event_functions;
fortran::ProcedurePool<most_functions> free_functions;
fortran::ProcedurePool<most_functions> dropped_functions;

template <int place>
void call_event(MPI_T_event_instance instance, MPI_T_event_registration registration,
                MPI_T_cb_safety safety, void* user_data) {
  reinterpret_cast<MPI_T_event_cb_function*>(event_functions.get(place))(
      instance, registration, to_foreign<set::cb_safety>(safety), user_data);
}
template <int place>
void call_free(MPI_T_event_registration registration, MPI_T_cb_safety safety, void* user_data) {
  reinterpret_cast<MPI_T_event_free_cb_function*>(free_functions.get(place))(
      registration, to_foreign<set::cb_safety>(safety), user_data);
}
template <int place>
void call_dropped(MPI_Count count, MPI_T_event_registration registration, int source,
                  MPI_T_cb_safety safety, void* user_data) {
  reinterpret_cast<MPI_T_event_dropped_cb_function*>(dropped_functions.get(place))(
      count, registration, source, to_foreign<set::cb_safety>(safety), user_data);
}

template <int... place>
MPI_T_event_cb_function* event_function(int wanted, std::integer_sequence<int, place...> /*all*/) {
  static constexpr MPI_T_event_cb_function* all[] = {call_event<place>...};
  return all[wanted];
}
template <int... place>
MPI_T_event_free_cb_function* free_function(int wanted,
                                            std::integer_sequence<int, place...> /*all*/) {
  static constexpr MPI_T_event_free_cb_function* all[] = {call_free<place>...};
  return all[wanted];
}
template <int... place>
MPI_T_event_dropped_cb_function* dropped_function(int wanted,
                                                  std::integer_sequence<int, place...> /*all*/) {
  static constexpr MPI_T_event_dropped_cb_function* all[] = {call_dropped<place>...};
  return all[wanted];
}

constexpr auto all_places = std::make_integer_sequence<int, most_functions>();

}  // namespace

int t_pvar_handle_alloc(MPI_T_pvar_session session, int index, void* object,
                        MPI_T_pvar_handle* handle, int* count) {
  int bind = MPI_T_BIND_NO_OBJECT;
  const int known =
      functions.T_pvar_get_info(index, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                nullptr, nullptr, &bind, nullptr, nullptr, nullptr);
  if (known != MPI_SUCCESS) return code_out(known);
  if (bind != MPI_T_BIND_MPI_COMM || object == nullptr) {
    return code_out(functions.T_pvar_handle_alloc(session, index, object, handle, count));
  }
  MPI_Comm comm = in<MPI_Comm>(*static_cast<Foreign<MPI_Comm>*>(object));
  return code_out(functions.T_pvar_handle_alloc(session, index, &comm, handle, count));
}

int t_event_register_callback(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                              Foreign<MPI_Info> info, void* user_data, Procedure* function) {
  MPI_T_event_cb_function* ours = nullptr;
  if (function != nullptr) {
    const int place = event_functions.place_of(function);
    if (place < 0) return report(Problem::too_many_event_functions);
    ours = event_function(place, all_places);
  }
  return code_out(functions.T_event_register_callback(
      registration, to_standard<set::cb_safety>(safety), in<MPI_Info>(info), user_data, ours));
}

int t_event_set_dropped_handler(MPI_T_event_registration registration, Procedure* function) {
  MPI_T_event_dropped_cb_function* ours = nullptr;
  if (function != nullptr) {
    const int place = dropped_functions.place_of(function);
    if (place < 0) return report(Problem::too_many_event_functions);
    ours = dropped_function(place, all_places);
  }
  return code_out(functions.T_event_set_dropped_handler(registration, ours));
}

int t_event_handle_free(MPI_T_event_registration registration, void* user_data,
                        Procedure* function) {
  MPI_T_event_free_cb_function* ours = nullptr;
  if (function != nullptr) {
    const int place = free_functions.place_of(function);
    if (place < 0) return report(Problem::too_many_event_functions);
    ours = free_function(place, all_places);
  }
  return code_out(functions.T_event_handle_free(registration, user_data, ours));
}

int t_event_get_info(int index, char* name, int* name_length, int* verbosity,
                     Foreign<MPI_Datatype>* datatypes, MPI_Aint* displacements, int* elements,
                     MPI_T_enum* enumtype, Foreign<MPI_Info>* info, char* description,
                     int* description_length, int* bind) {
  const int room = datatypes != nullptr && elements != nullptr ? *elements : 0;
  SmallArray<MPI_Datatype, 16> types(room);
  for (MPI_Count i = 0; i < types.size(); ++i) types[i] = nullptr;
  const int result = functions.T_event_get_info(
      index, name, name_length, ValueOut<set::verbosity>(verbosity),
      datatypes != nullptr ? types.data() : nullptr, displacements, elements, enumtype,
      HandleOut<MPI_Info>(info), description, description_length, ValueOut<set::bind>(bind));
  for (MPI_Count i = 0; i < types.size(); ++i) {
    if (types[i] != nullptr) datatypes[i] = out(types[i]);
  }
  return code_out(result);
}

}  // namespace fulmar::compat
