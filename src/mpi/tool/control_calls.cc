// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>

#include "mpi/tool/calls.h"
#include "mpi/tool/text.h"

namespace fulmar::mpi {
namespace {

using ControlForm = ControlVariable::Form;
using Written = VariableStore::Written;

constexpr const char automatic[] = "auto";

const Enumeration* find_enumeration(Tool& tool, MPI_T_enum handle) {
  for (const Enumeration& candidate : tool.tables().enumerations) {
    if (reinterpret_cast<std::uintptr_t>(&candidate) == reinterpret_cast<std::uintptr_t>(handle)) {
      return &candidate;
    }
  }
  return nullptr;
}

template <class Number>
Number number_from(const std::string& text, Number otherwise) {
  Number value = otherwise;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc()) return otherwise;
  return value;
}

int choice_from(const ControlVariable& variable, const std::string& text) {
  int index = 0;
  for (const std::string& choice : variable.choices) {
    if (choice == text) return index;
    ++index;
  }
  return MPI_UNDEFINED;
}

template <class T>
void store(void* buffer, T value) {
  std::memcpy(buffer, &value, sizeof value);
}
template <class T>
T load(const void* buffer) {
  T value;
  std::memcpy(&value, buffer, sizeof value);
  return value;
}

void store_value(const ControlVariable& variable, const std::string& text, void* buffer) {
  switch (variable.form) {
    case ControlForm::number:
      return store(buffer, number_from<unsigned long long>(text, UINT64_MAX));
    case ControlForm::integer:
      return store(buffer, number_from<int>(text, MPI_UNDEFINED));
    case ControlForm::choice:
      return store(buffer, choice_from(variable, text));
    case ControlForm::text:
      std::memset(buffer, 0, control_text_bytes);
      int length = control_text_bytes;
      return give_text(text, static_cast<char*>(buffer), &length);
  }
}

/// The text of a value that a tool gives; false for a choice that does not exist.
bool load_value(const ControlVariable& variable, const void* buffer, std::string& text) {
  switch (variable.form) {
    case ControlForm::number: {
      const auto value = load<unsigned long long>(buffer);
      text = value == UINT64_MAX ? automatic : std::to_string(value);
      return true;
    }
    case ControlForm::integer:
      text = std::to_string(load<int>(buffer));
      return true;
    case ControlForm::choice: {
      const int value = load<int>(buffer);
      if (value < 0 || value >= static_cast<int>(variable.choices.size())) return false;
      text = variable.choices[static_cast<std::size_t>(value)];
      return true;
    }
    case ControlForm::text:
      text.assign(static_cast<const char*>(buffer),
                  ::strnlen(static_cast<const char*>(buffer), control_text_bytes));
      return text.size() < control_text_bytes;
  }
  return false;
}

MPI_Datatype datatype_of(ControlForm form) {
  if (form == ControlForm::number) return MPI_UNSIGNED_LONG_LONG;
  return form == ControlForm::text ? MPI_CHAR : MPI_INT;
}

bool is_control(Tool& tool, int index) {
  return index >= 0 && index < static_cast<int>(tool.tables().controls.size());
}

}  // namespace

int t_enum_get_info(Tool& tool, MPI_T_enum enumtype, int* num, char* name, int* name_len) {
  const Enumeration* found = find_enumeration(tool, enumtype);
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  give(num, found->items.size());
  give_text(found->name, name, name_len);
  return MPI_SUCCESS;
}

int t_enum_get_item(Tool& tool, MPI_T_enum enumtype, int index, int* value, char* name,
                    int* name_len) {
  const Enumeration* found = find_enumeration(tool, enumtype);
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (index < 0 || index >= static_cast<int>(found->items.size())) return MPI_T_ERR_INVALID_INDEX;
  give(value, index);
  give_text(found->items[static_cast<std::size_t>(index)], name, name_len);
  return MPI_SUCCESS;
}

int t_cvar_get_num(Tool& tool, int* count) {
  if (count == nullptr) return MPI_T_ERR_INVALID;
  *count = static_cast<int>(tool.tables().controls.size());
  return MPI_SUCCESS;
}

int t_cvar_get_info(Tool& tool, int index, char* name, int* name_len, int* verbosity,
                    MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len,
                    int* bind, int* scope) {
  if (!is_control(tool, index)) return MPI_T_ERR_INVALID_INDEX;
  const ControlVariable& variable = tool.tables().controls[static_cast<std::size_t>(index)];
  give_text(variable.name, name, name_len);
  give(verbosity, variable.verbosity);
  if (datatype != nullptr) *datatype = datatype_of(variable.form);
  if (enumtype != nullptr) {
    *enumtype = reinterpret_cast<MPI_T_enum>(const_cast<Enumeration*>(variable.enumeration));
  }
  give_text(variable.description, desc, desc_len);
  give(bind, int{MPI_T_BIND_NO_OBJECT});
  give(scope, variable.scope);
  return MPI_SUCCESS;
}

int t_cvar_get_index(Tool& tool, const char* name, int* index) {
  if (name == nullptr || index == nullptr) return MPI_T_ERR_INVALID;
  int at = 0;
  for (const ControlVariable& variable : tool.tables().controls) {
    if (variable.name == name) {
      *index = at;
      return MPI_SUCCESS;
    }
    ++at;
  }
  return MPI_T_ERR_INVALID_NAME;
}

int t_cvar_handle_alloc(Tool& tool, int index, void* /*object*/, MPI_T_cvar_handle* handle,
                        int* count) {
  if (!is_control(tool, index)) return MPI_T_ERR_INVALID_INDEX;
  if (handle == nullptr) return MPI_T_ERR_INVALID;
  const auto place = static_cast<std::size_t>(index);
  const ControlHandle* made = tool.tables().control_handles.make(place);
  if (made == nullptr) return MPI_T_ERR_OUT_OF_HANDLES;
  *handle = tool.tables().control_handles.handle_of(*made);
  give(count, tool.tables().controls[place].form == ControlForm::text ? control_text_bytes : 1);
  return MPI_SUCCESS;
}

int t_cvar_handle_free(Tool& tool, MPI_T_cvar_handle* handle) {
  ControlHandle* found = handle == nullptr ? nullptr : tool.tables().control_handles.find(*handle);
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  tool.tables().control_handles.free(*found);
  *handle = MPI_T_CVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

int t_cvar_read(Tool& tool, MPI_T_cvar_handle handle, void* buffer) {
  const ControlHandle* found = tool.tables().control_handles.find(handle);
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (buffer == nullptr) return MPI_T_ERR_INVALID;
  const std::string text = tool.store().read(tool.store().context, found->index);
  store_value(tool.tables().controls[found->index], text, buffer);
  return MPI_SUCCESS;
}

int t_cvar_write(Tool& tool, MPI_T_cvar_handle handle, const void* buffer) {
  const ControlHandle* found = tool.tables().control_handles.find(handle);
  if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
  if (buffer == nullptr) return MPI_T_ERR_INVALID;
  std::string text;
  if (!load_value(tool.tables().controls[found->index], buffer, text)) return MPI_T_ERR_INVALID;
  switch (tool.store().write(tool.store().context, found->index, text)) {
    case Written::done:
      return MPI_SUCCESS;
    case Written::not_now:
      return MPI_T_ERR_CVAR_SET_NOT_NOW;
    case Written::no_such_value:
      break;
  }
  return MPI_T_ERR_INVALID;
}

}  // namespace fulmar::mpi
