// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <cstring>

#include "mpi/tool/calls.h"
#include "mpi/tool/text.h"

namespace fulmar::mpi {
namespace {

using PerformanceForm = PerformanceVariable::Form;
using Reading = PerformanceVariable::Reading;

constexpr double billionth = 1e-9;

MPI_Datatype datatype_of(PerformanceForm form) {
  if (form == PerformanceForm::number) return MPI_UNSIGNED_LONG_LONG;
  return form == PerformanceForm::billionth ? MPI_DOUBLE : MPI_INT;
}

void store(PerformanceForm form, std::uint64_t value, void* buffer) {
  const double real = static_cast<double>(value) * billionth;
  const int state = static_cast<int>(value);
  const auto number = static_cast<unsigned long long>(value);
  if (form == PerformanceForm::number) std::memcpy(buffer, &number, sizeof number);
  if (form == PerformanceForm::billionth) std::memcpy(buffer, &real, sizeof real);
  if (form == PerformanceForm::state) std::memcpy(buffer, &state, sizeof state);
}

/// A value written by a tool: the variables that can be written are numbers and times.
std::uint64_t load(PerformanceForm form, const void* buffer) {
  if (form == PerformanceForm::billionth) {
    double real = 0;
    std::memcpy(&real, buffer, sizeof real);
    return real > 0 ? static_cast<std::uint64_t>(real / billionth + 0.5) : 0;
  }
  unsigned long long number = 0;
  std::memcpy(&number, buffer, sizeof number);
  return number;
}

const PerformanceVariable* find_variable(int index) {
  const auto all = performance_variables();
  if (index < 0 || index >= static_cast<int>(all.size())) return nullptr;
  return &all[static_cast<std::size_t>(index)];
}

/// The session and the handle of a call, checked: the handle is one of the session.
struct Named {
  Named(Tool& tool, MPI_T_pvar_session session_handle, MPI_T_pvar_handle pvar_handle)
      : session(tool.tables().sessions.find(session_handle)),
        handle(tool.tables().performance_handles.find(pvar_handle)) {
    if (session == nullptr) {
      error = MPI_T_ERR_INVALID_SESSION;
    } else if (handle == nullptr || handle->session != session) {
      error = MPI_T_ERR_INVALID_HANDLE;
    }
  }
  const PerformanceSession* session;
  PerformanceHandle* handle;
  int error = MPI_SUCCESS;
};

bool is_all(MPI_T_pvar_handle handle) {
  return reinterpret_cast<std::uintptr_t>(handle) ==
         reinterpret_cast<std::uintptr_t>(MPI_T_PVAR_ALL_HANDLES);
}

/// Does `act` with the handle, or with all of the session; those that do not allow it are left out
/// then, and `refusal` is the answer to one that is named.
template <class Act>
int for_one_or_all(Tool& tool, MPI_T_pvar_session session, MPI_T_pvar_handle handle, int refusal,
                   Act act) {
  const Named named(tool, session, handle);
  if (is_all(handle) && named.session != nullptr) {
    for (PerformanceHandle* each : tool.tables().performance_handles.live()) {
      if (each->session == named.session && each->variable->kind.reading != Reading::live)
        act(*each);
    }
    tool.update_watch();
    return MPI_SUCCESS;
  }
  if (named.error != MPI_SUCCESS) return named.error;
  if (named.handle->variable->kind.reading == Reading::live) return refusal;
  act(*named.handle);
  tool.update_watch();
  return MPI_SUCCESS;
}

/// The communicator that a handle is bound to.
int find_object(Tool& tool, const PerformanceVariable& variable, void* object, Comm*& comm) {
  if (variable.kind.bind != MPI_T_BIND_MPI_COMM) return MPI_SUCCESS;
  if (object == nullptr) return MPI_T_ERR_INVALID;
  comm = tool.library().find<Comm>(*static_cast<MPI_Comm*>(object));
  return comm == nullptr ? MPI_T_ERR_INVALID : MPI_SUCCESS;
}

}  // namespace

int t_pvar_get_num(Tool& /*tool*/, int* count) {
  if (count == nullptr) return MPI_T_ERR_INVALID;
  *count = static_cast<int>(performance_variables().size());
  return MPI_SUCCESS;
}

int t_pvar_get_info(Tool& tool, int index, char* name, int* name_len, int* verbosity,
                    int* var_class, MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc,
                    int* desc_len, int* bind, int* readonly, int* continuous, int* atomic) {
  const PerformanceVariable* variable = find_variable(index);
  if (variable == nullptr) return MPI_T_ERR_INVALID_INDEX;
  const bool live = variable->kind.reading == Reading::live;
  give_text(variable->name, name, name_len);
  give(verbosity, variable->verbosity);
  give(var_class, variable->kind.var_class);
  if (datatype != nullptr) *datatype = datatype_of(variable->kind.form);
  if (enumtype != nullptr) {
    const Enumeration* states = tool.tables().library_states;
    *enumtype = variable->kind.form == PerformanceForm::state
                    ? reinterpret_cast<MPI_T_enum>(const_cast<Enumeration*>(states))
                    : MPI_T_ENUM_NULL;
  }
  give_text(variable->description, desc, desc_len);
  give(bind, variable->kind.bind);
  give(readonly, live ? 1 : 0);
  give(continuous, live ? 1 : 0);
  give(atomic, live ? 0 : 1);
  return MPI_SUCCESS;
}

int t_pvar_get_index(Tool& /*tool*/, const char* name, int var_class, int* index) {
  if (name == nullptr || index == nullptr) return MPI_T_ERR_INVALID;
  int at = 0;
  for (const PerformanceVariable& variable : performance_variables()) {
    if (variable.kind.var_class == var_class && std::strcmp(variable.name, name) == 0) {
      *index = at;
      return MPI_SUCCESS;
    }
    ++at;
  }
  return MPI_T_ERR_INVALID_NAME;
}

int t_pvar_session_create(Tool& tool, MPI_T_pvar_session* session) {
  if (session == nullptr) return MPI_T_ERR_INVALID;
  const PerformanceSession* made = tool.tables().sessions.make();
  if (made == nullptr) return MPI_T_ERR_OUT_OF_SESSIONS;
  *session = tool.tables().sessions.handle_of(*made);
  return MPI_SUCCESS;
}

int t_pvar_session_free(Tool& tool, MPI_T_pvar_session* session) {
  PerformanceSession* found = session == nullptr ? nullptr : tool.tables().sessions.find(*session);
  if (found == nullptr) return MPI_T_ERR_INVALID_SESSION;
  const std::vector<PerformanceHandle*> handles = tool.tables().performance_handles.live();
  for (PerformanceHandle* handle : handles) {
    if (handle->session == found) tool.free(*handle);
  }
  tool.tables().sessions.free(*found);
  tool.update_watch();
  *session = MPI_T_PVAR_SESSION_NULL;
  return MPI_SUCCESS;
}

int t_pvar_handle_alloc(Tool& tool, MPI_T_pvar_session session, int index, void* object,
                        MPI_T_pvar_handle* handle, int* count) {
  const PerformanceSession* owner = tool.tables().sessions.find(session);
  if (owner == nullptr) return MPI_T_ERR_INVALID_SESSION;
  const PerformanceVariable* variable = find_variable(index);
  if (variable == nullptr) return MPI_T_ERR_INVALID_INDEX;
  if (handle == nullptr) return MPI_T_ERR_INVALID;
  Comm* comm = nullptr;
  if (const int error = find_object(tool, *variable, object, comm); error != MPI_SUCCESS) {
    return error;
  }
  PerformanceHandle* made = tool.tables().performance_handles.make(owner, variable, comm);
  if (made == nullptr) return MPI_T_ERR_OUT_OF_HANDLES;
  if (comm != nullptr) tool.library().acquire(*comm);
  made->reset(tool.sources());
  *handle = tool.tables().performance_handles.handle_of(*made);
  give(count, 1);
  return MPI_SUCCESS;
}

int t_pvar_handle_free(Tool& tool, MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
  const Named named(tool, session, handle == nullptr ? MPI_T_PVAR_HANDLE_NULL : *handle);
  if (named.error != MPI_SUCCESS) return named.error;
  tool.free(*named.handle);
  tool.update_watch();
  *handle = MPI_T_PVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

int t_pvar_start(Tool& tool, MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return for_one_or_all(tool, session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP,
                        [&](PerformanceHandle& each) { each.start(tool.sources()); });
}

int t_pvar_stop(Tool& tool, MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return for_one_or_all(tool, session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP,
                        [&](PerformanceHandle& each) { each.stop(tool.sources()); });
}

int t_pvar_read(Tool& tool, MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buffer) {
  const Named named(tool, session, handle);
  if (named.error != MPI_SUCCESS) return named.error;
  if (buffer == nullptr) return MPI_T_ERR_INVALID;
  store(named.handle->variable->kind.form, named.handle->current(tool.sources()), buffer);
  return MPI_SUCCESS;
}

int t_pvar_write(Tool& tool, MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                 const void* buffer) {
  const Named named(tool, session, handle);
  if (named.error != MPI_SUCCESS) return named.error;
  if (named.handle->variable->kind.reading == Reading::live) return MPI_T_ERR_PVAR_NO_WRITE;
  if (buffer == nullptr) return MPI_T_ERR_INVALID;
  named.handle->set(tool.sources(), load(named.handle->variable->kind.form, buffer));
  return MPI_SUCCESS;
}

int t_pvar_reset(Tool& tool, MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  return for_one_or_all(tool, session, handle, MPI_T_ERR_PVAR_NO_WRITE,
                        [&](PerformanceHandle& each) { each.reset(tool.sources()); });
}

int t_pvar_readreset(Tool& tool, MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                     void* buffer) {
  const Named named(tool, session, handle);
  if (named.error != MPI_SUCCESS) return named.error;
  if (named.handle->variable->kind.reading == Reading::live) return MPI_T_ERR_PVAR_NO_WRITE;
  if (buffer == nullptr) return MPI_T_ERR_INVALID;
  store(named.handle->variable->kind.form, named.handle->current(tool.sources()), buffer);
  named.handle->reset(tool.sources());
  return MPI_SUCCESS;
}

}  // namespace fulmar::mpi
