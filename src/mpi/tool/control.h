// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/tool/enumeration.h"

namespace fulmar::mpi {

/// A control variable (MPI 5.0 section 15.3.6). The owner of the value stores it as text.
struct ControlVariable {
  enum class Form : std::uint8_t {
    number,   ///< MPI_UNSIGNED_LONG_LONG, digits only; the largest stands for the text "auto"
    integer,  ///< MPI_INT
    choice,   ///< MPI_INT with an enumeration; item i stands for the text choices[i]
    text,     ///< MPI_CHAR, ended by a null byte
  };

  std::string name;
  std::string description;
  Form form = Form::text;
  int scope = 0;      ///< MPI_T_SCOPE_
  int verbosity = 0;  ///< MPI_T_VERBOSITY_
  std::vector<std::string> choices;
  const Enumeration* enumeration = nullptr;  ///< of a choice; set by Tool
  std::vector<std::string> labels;           ///< names of the choices for people
};

/// How many bytes the value of a text variable takes, null byte included.
inline constexpr int control_text_bytes = 512;

/// The owner of the control variables: runtime, which has the options. Functions instead of an
/// interface class, because there is one and it lives longer than everything here.
struct VariableStore {
  enum class Written : std::uint8_t { done, no_such_value, not_now };

  void* context = nullptr;
  /// All variables, always in the same order.
  std::vector<ControlVariable> (*list)() = nullptr;
  std::string (*read)(void* context, std::size_t index) = nullptr;
  Written (*write)(void* context, std::size_t index, std::string_view text) = nullptr;
};

}  // namespace fulmar::mpi
