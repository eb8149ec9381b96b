// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/tool/tool.h"

namespace fulmar::mpi {

Tool::Tool(Library& library, VariableStore store) noexcept : library_(library), store_(store) {
  watch_.tool = this;
  watch_.note = [](device::Observer& watch, const device::Event& happening) noexcept {
    static_cast<Watch&>(watch).tool->happened(happening);
  };
  watch_.settle = [](device::Observer& watch) noexcept {
    Tool& self = *static_cast<Watch&>(watch).tool;
    if (self.events().settle()) self.library_.device->defer();
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
  for (const EventType& type : event_types()) {
    Enumeration& names = tables_->enumerations.emplace_back();
    names.name = type.name;
    for (const EventElement& element : type.elements) names.items.emplace_back(element.name);
    tables_->event_elements.push_back(&names);
  }
}

void Tool::leave() {
  if (--users_ > 0) return;
  tables_->control_handles.clear();
  while (!tables_->performance_handles.live().empty()) {
    free(*tables_->performance_handles.live().back());
  }
  tables_->sessions.clear();
  tables_->events.clear();
  threads = false;
  update_watch();
}

void Tool::free(PerformanceHandle& handle) noexcept {
  if (handle.comm != nullptr) library_.release(*handle.comm);
  tables_->performance_handles.free(handle);
}

void Tool::update_watch() noexcept {
  watermarks_.clear();
  if (library_.device == nullptr || tables_ == nullptr) return;
  for (PerformanceHandle* handle : tables_->performance_handles.live()) {
    if (handle->running &&
        handle->variable->kind.reading == PerformanceVariable::Reading::highest) {
      watermarks_.push_back(handle);
    }
  }
  const bool watches = !watermarks_.empty() || events().listens();
  library_.device->observe(watches ? &watch_ : nullptr);
}

void Tool::happened(const device::Event& happening) {
  if (happening.kind == device::Event::Kind::unexpected) {
    for (PerformanceHandle* handle : watermarks_) handle->follow(sources());
  }
  const auto where = library_.device->service().polling() ? Events::Where::own_thread
                                                          : Events::Where::program_thread;
  if (events().raise(happening, where)) library_.device->defer();
}

}  // namespace fulmar::mpi
