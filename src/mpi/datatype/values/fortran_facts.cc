// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/datatype/values/fortran_facts.h"

#include <charconv>
#include <string>

namespace fulmar::mpi {
namespace {

using base::Error;

Error bad_value(const char* key, const std::string& value, const char* rule) {
  return base::failure(base::ErrorClass::info_value, "info key %s: \"%s\"; %s", key, value.c_str(),
                       rule);
}

/// Reads a size in bytes, one of the bits of `allowed`, if the key is set.
Error read_size(const Info& info, const char* key, unsigned allowed, int& size) {
  const std::string* value = info.find(key);
  if (value == nullptr) return {};
  int bytes = 0;
  const char* end = value->data() + value->size();
  const auto [rest, code] = std::from_chars(value->data(), end, bytes);
  const bool power = bytes > 0 && (bytes & (bytes - 1)) == 0;
  if (code != std::errc{} || rest != end || !power || (allowed & static_cast<unsigned>(bytes)) == 0)
    return bad_value(key, *value, "it must be the size in bytes of a Fortran type");
  size = bytes;
  return {};
}

/// Reads "true" or "false" if the key is set.
Error read_flag(const Info& info, const char* key, bool& flag) {
  const std::string* value = info.find(key);
  if (value == nullptr) return {};
  if (*value != "true" && *value != "false") {
    return bad_value(key, *value, "it must be \"true\" or \"false\"");
  }
  flag = *value == "true";
  return {};
}

/// Reads mpi_logical1_supported and so on into the bits of `present`.
Error read_support(const Info& info, const char* kind, unsigned sizes, unsigned& present) {
  for (unsigned size = 1; size <= sizes; size *= 2) {
    if ((sizes & size) == 0) continue;
    const std::string key = std::string("mpi_") + kind + std::to_string(size) + "_supported";
    bool there = (present & size) != 0;
    if (const Error bad = read_flag(info, key.c_str(), there); bad.failed()) return bad;
    present = there ? present | size : present & ~size;
  }
  return {};
}

}  // namespace

base::Result<FortranTypeInfo> read_fortran_facts(const Info& info) {
  FortranTypeInfo facts;
  for (const Error& bad :
       {read_size(info, "mpi_logical_size", 1 | 2 | 4 | 8 | 16, facts.logical_bytes),
        read_size(info, "mpi_integer_size", 1 | 2 | 4 | 8 | 16, facts.integer_bytes),
        read_size(info, "mpi_real_size", 2 | 4 | 8 | 16, facts.real_bytes),
        read_size(info, "mpi_double_precision_size", 4 | 8 | 16, facts.double_bytes),
        read_flag(info, "mpi_double_complex_supported", facts.has_double_complex),
        read_support(info, "logical", 1 | 2 | 4 | 8 | 16, facts.has_logical),
        read_support(info, "integer", 1 | 2 | 4 | 8 | 16, facts.has_integer),
        read_support(info, "real", 2 | 4 | 8 | 16, facts.has_real),
        read_support(info, "complex", 4 | 8 | 16 | 32, facts.has_complex)}) {
    if (bad.failed()) return bad;
  }
  return facts;
}

}  // namespace fulmar::mpi
