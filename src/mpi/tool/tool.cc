// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/tool/tool.h"

namespace fulmar::mpi {

Tool::Tool(Library& library, VariableStore store) noexcept : library_(library), store_(store) {
  watch_.tool = this;
  watch_.note = [](device::Observer& watch, const device::Happening& happening) noexcept {
    static_cast<Watch&>(watch).tool->happened(happening);
  };
}

Tool::~Tool() = default;

void Tool::enter() {
  if (users_++ > 0) return;
  if (tables_ != nullptr) return;
  tables_ = std::make_unique<Tables>();
  tables_->controls = store_.list();
  make_enumerations();
}

void Tool::make_enumerations() {
  for (ControlVariable& variable : tables_->controls) {
    if (variable.form != ControlVariable::Form::choice) continue;
    tables_->enumerations.push_back({variable.name, variable.labels});
    variable.enumeration = &tables_->enumerations.back();
  }
  Enumeration& states = tables_->enumerations.emplace_back();
  states.name = "library_state";
  for (const char* state : library_states()) states.items.emplace_back(state);
  tables_->library_states = &states;
}

void Tool::leave() {
  if (--users_ > 0) return;
  tables_->control_handles.clear();
  while (!tables_->performance_handles.live().empty()) {
    free(*tables_->performance_handles.live().back());
  }
  tables_->sessions.clear();
  threads = false;
  update_watch();
}

void Tool::free(PerformanceHandle& handle) noexcept {
  if (handle.comm != nullptr) library_.release(*handle.comm);
  tables_->performance_handles.free(handle);
}

void Tool::update_watch() noexcept {
  watermarks_.clear();
  for (PerformanceHandle* handle : tables_->performance_handles.live()) {
    if (handle->running && handle->variable->way == PerformanceVariable::Way::highest) {
      watermarks_.push_back(handle);
    }
  }
  if (library_.device == nullptr) return;
  library_.device->observe(watermarks_.empty() ? nullptr : &watch_);
}

void Tool::happened(const device::Happening& happening) noexcept {
  if (happening.kind != device::Happening::Kind::unexpected) return;
  for (PerformanceHandle* handle : watermarks_) handle->follow(figures());
}

}  // namespace fulmar::mpi
