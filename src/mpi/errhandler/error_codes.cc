// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/errhandler/error_codes.h"

#include <limits>

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using base::Result;

constexpr int last_class = static_cast<int>(ErrorClass::abi);
constexpr int first_tool_code = MPI_T_ERR_CANNOT_INIT;
constexpr int last_tool_code = MPI_T_ERR_NOT_SUPPORTED > MPI_T_ERR_PVAR_NO_ATOMIC
                                   ? MPI_T_ERR_NOT_SUPPORTED
                                   : MPI_T_ERR_PVAR_NO_ATOMIC;

bool is_class(int code) {
  return (code >= 0 && code <= last_class) || base::is_extension(static_cast<ErrorClass>(code));
}
bool is_tool_code(int code) { return code >= first_tool_code && code <= last_tool_code; }

Error no_such_code(int code) {
  return failure(ErrorClass::arg,
                 "error code %d is neither predefined nor made by MPI_Add_error_class or "
                 "MPI_Add_error_code",
                 code);
}

Error not_of_the_user(int code) {
  return failure(
      ErrorClass::arg,
      "error code %d was not made by MPI_Add_error_class or MPI_Add_error_code, or it was "
      "removed; predefined codes cannot be changed",
      code);
}

Error has_text(int code, std::string_view text) {
  if (text.empty()) return {};
  return failure(ErrorClass::arg,
                 "error code %d still has a text; remove it first with MPI_Remove_error_string",
                 code);
}

}  // namespace

bool ErrorCodes::exists(int code) const noexcept {
  return code >= first_user_code && index(code) < entries_.size() && entry(code).alive;
}

Result<int> ErrorCodes::take_number() {
  if (resting_ > most_resting) {
    const int code = first_resting_;
    first_resting_ = entry(code).next_resting;
    --resting_;
    return code;
  }
  if (last_used_code_ == std::numeric_limits<int>::max()) {
    return failure(ErrorClass::no_mem, "all %zu user error codes are used up", entries_.size());
  }
  entries_.emplace_back();
  return ++last_used_code_;
}

void ErrorCodes::rest(int code) noexcept {
  entry(code).alive = false;
  if (resting_ == 0) {
    first_resting_ = code;
  } else {
    entry(last_resting_).next_resting = code;
  }
  last_resting_ = code;
  ++resting_;
}

Result<int> ErrorCodes::add_class() {
  Result<int> number = take_number();
  if (number.ok()) entry(*number) = {*number, true, 0, {}, 0};
  return number;
}

Result<int> ErrorCodes::add_code(int error_class) {
  const bool user_class = exists(error_class) && entry(error_class).error_class == error_class;
  if (!user_class && !is_class(error_class)) {
    return failure(ErrorClass::arg, "argument errorclass: %d is not an error class", error_class);
  }
  Result<int> number = take_number();
  if (number.failed()) return number;
  entry(*number) = {error_class, true, 0, {}, 0};
  if (user_class) ++entry(error_class).codes;
  return number;
}

Error ErrorCodes::set_text(int code, std::string_view text) {
  if (!exists(code)) return not_of_the_user(code);
  if (text.size() >= MPI_MAX_ERROR_STRING) {
    return failure(ErrorClass::arg, "argument string: %zu bytes are more than the %d allowed",
                   text.size(), MPI_MAX_ERROR_STRING - 1);
  }
  entry(code).text = text;
  return {};
}

Error ErrorCodes::remove_class(int error_class) {
  if (!exists(error_class) || entry(error_class).error_class != error_class) {
    return not_of_the_user(error_class);
  }
  Entry& removed = entry(error_class);
  if (removed.codes != 0) {
    return failure(ErrorClass::arg, "error class %d still has %d codes; remove them first",
                   error_class, removed.codes);
  }
  if (const Error bad = has_text(error_class, removed.text); bad.failed()) return bad;
  rest(error_class);
  return {};
}

Error ErrorCodes::remove_code(int code) {
  if (!exists(code)) return not_of_the_user(code);
  Entry& removed = entry(code);
  if (removed.error_class == code) {
    return failure(ErrorClass::arg, "%d is an error class; use MPI_Remove_error_class", code);
  }
  if (const Error bad = has_text(code, removed.text); bad.failed()) return bad;
  if (!is_class(removed.error_class)) --entry(removed.error_class).codes;
  rest(code);
  return {};
}

Error ErrorCodes::remove_text(int code) {
  if (!exists(code)) return not_of_the_user(code);
  if (entry(code).text.empty()) {
    return failure(ErrorClass::arg,
                   "error code %d has no text to remove; give it one first with "
                   "MPI_Add_error_string",
                   code);
  }
  entry(code).text.clear();
  return {};
}

Result<int> ErrorCodes::class_of(int code) const {
  if (is_class(code) || is_tool_code(code) || code == MPI_ERR_LASTCODE) return code;
  if (!exists(code)) return no_such_code(code);
  return entry(code).error_class;
}

Result<std::string> ErrorCodes::text_of(int code) const {
  if (is_class(code)) {
    const auto error_class = static_cast<ErrorClass>(code);
    if (code == 0) return std::string(base::error_class_text(error_class));
    return std::string(base::error_class_name(error_class)) + ": " +
           base::error_class_text(error_class);
  }
  if (is_tool_code(code)) return "error " + std::to_string(code) + " of the tool interface (MPI_T)";
  if (code == MPI_ERR_LASTCODE) return std::string("MPI_ERR_LASTCODE: the last predefined code");
  if (!exists(code)) return no_such_code(code);
  return entry(code).text;
}

}  // namespace fulmar::mpi
