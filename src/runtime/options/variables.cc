// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/options/variables.h"

#include <mpi.h>

#include <string>

#include "runtime/options/effects.h"
#include "runtime/options/options.h"
#include "runtime/process.h"

namespace fulmar::runtime {
namespace {

using mpi::ControlVariable;
using mpi::VariableStore;
using Form = ControlVariable::Form;
using Written = VariableStore::Written;

Form form_of(OptionType type) {
  switch (type) {
    case OptionType::boolean:
    case OptionType::choice:
      return Form::choice;
    case OptionType::size:
      return Form::number;
    case OptionType::integer:
      return Form::integer;
    default:
      return Form::text;
  }
}

std::string description_of(const OptionSpec& spec) {
  std::string text = spec.text;
  const bool has_auto = spec.type == OptionType::size && spec.standard == std::string_view("auto");
  if (*spec.unit != '\0') text += std::string(" In ") + spec.unit + ".";
  if (has_auto) text += " The largest number stands for a value that the library chooses.";
  return text;
}

ControlVariable variable_of(const OptionSpec& spec) {
  ControlVariable variable;
  variable.name = spec.name;
  variable.description = description_of(spec);
  variable.form = form_of(spec.type);
  variable.scope =
      spec.scope == OptionScope::all_eq ? int{MPI_T_SCOPE_ALL_EQ} : int{MPI_T_SCOPE_LOCAL};
  variable.verbosity = MPI_T_VERBOSITY_USER_BASIC;
  if (spec.type == OptionType::boolean) {
    variable.choices = {"0", "1"};
    variable.labels = {"off", "on"};
  } else if (spec.type == OptionType::choice) {
    for (const std::string_view choice : choices_of(spec)) variable.choices.emplace_back(choice);
    variable.labels = variable.choices;
  }
  return variable;
}

std::vector<ControlVariable> list() {
  std::vector<ControlVariable> variables;
  for (const OptionSpec& spec : option_specs()) variables.push_back(variable_of(spec));
  return variables;
}

std::string read(void* context, std::size_t index) {
  const Options::Value& value = static_cast<Process*>(context)->options().values()[index];
  if (value.spec->type != OptionType::size) return value.text;
  const auto size = parse_size(value.text);
  return size ? std::to_string(*size) : value.text;
}

Written write(void* context, std::size_t index, std::string_view text) {
  auto& process = *static_cast<Process*>(context);
  const OptionSpec& spec = *process.options().values()[index].spec;
  if (process.started() && !may_change(spec.name)) return Written::not_now;
  if (!process.options().set(index, text)) return Written::no_such_value;
  process.options_changed();
  return Written::done;
}

}  // namespace

VariableStore variable_store(Process& process) noexcept { return {&process, list, read, write}; }

}  // namespace fulmar::runtime
