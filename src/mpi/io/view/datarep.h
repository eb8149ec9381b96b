// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "mpi/args.h"

namespace fulmar::mpi {

struct BasicType;

/// A data representation that a program has registered (MPI 5.0 section 14.5.3). Lives until the
/// process ends: there is no function that takes it back.
struct UserRepresentation {
  std::string name;
  ConversionFunction read;   ///< none: the data in the file are as in memory
  ConversionFunction write;  ///< likewise
  MPI_Datarep_extent_function* extent = nullptr;
  void* extra_state = nullptr;
};

/// The representation of data in a file.
struct Representation {
  enum class Kind : std::uint8_t {
    native,      ///< as in memory
    internal,    ///< the same here
    external32,  ///< MPI 5.0 section 14.5.2
    user
  };
  Kind kind = Kind::native;
  const UserRepresentation* user = nullptr;

  /// Data are moved as they are.
  [[nodiscard]] bool as_in_memory() const noexcept {
    return kind == Kind::native || kind == Kind::internal;
  }
  [[nodiscard]] std::string_view name() const noexcept;
  /// Bytes that an element of a predefined type takes in the file. Calls the user's function; fails
  /// with MPI_ERR_CONVERSION where that does.
  [[nodiscard]] base::Result<Count> bytes_of(const BasicType& basic) const;
};

/// MPI_ERR_UNSUPPORTED_DATAREP where there is none with this name.
[[nodiscard]] base::Result<Representation> find_representation(Library& library,
                                                               std::string_view name);

/// Bytes of `count` elements of a type in a file; MPI_ERR_COUNT where that leaves 64 bits.
[[nodiscard]] base::Result<Count> bytes_in_file(const Representation& representation,
                                                const Datatype& type, Count count);

/// Writes all of the data in the file's form to `to`, which has room for `bytes_in_file`. Not for
/// `as_in_memory`. May call the user's function.
base::Error convert_to_file(const Representation& representation, const ConstData& data,
                            std::byte* to);
/// Takes the basic elements that `bytes` of the file hold completely; `moved` becomes their size in
/// memory.
base::Error convert_from_file(const Representation& representation, const std::byte* from,
                              Count bytes, const Data& data, Count& moved);

}  // namespace fulmar::mpi
