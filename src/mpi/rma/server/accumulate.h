// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "mpi/args.h"
#include "mpi/datatype/datatype.h"
#include "mpi/op/op.h"

/// What one-sided operations do to memory, whoever does it: the origin where it maps the target's
/// memory, else the target.
namespace fulmar::mpi {

/// Copies the elements of `from` to those of `to`, which have room for them and may overlap if both
/// are one run.
void move_elements(const ConstData& from, const Data& to) noexcept;

/// The packed bytes of some elements: where they lie if that is one run, else a copy in `room`.
[[nodiscard]] std::span<const std::byte> packed_bytes(const ConstData& data,
                                                      std::vector<std::byte>& room);

/// The one predefined type that all elements of a type are, of which accumulate operations may
/// consist (MPI 5.0 section 12.3.4); nullptr where they differ.
[[nodiscard]] const Datatype* element_type(const Library& library, const Datatype& type);

/// Whether an accumulate operation may use `op` on elements of this type (null: they differ).
/// MPI_ERR_OP for operations of the user and those that are not defined for the type, MPI_ERR_TYPE
/// where the elements differ; MPI_REPLACE and MPI_NO_OP take any type.
[[nodiscard]] base::Error check_accumulate(const Op& op, const Datatype* element);

/// What MPI_Compare_and_swap may compare (MPI 5.0 section 12.3.4).
[[nodiscard]] bool can_be_compared(const Datatype& type) noexcept;

/// target[i] = target[i] op source[i]. `source`: packed elements of the type `element` (null: bytes,
/// for MPI_REPLACE and MPI_NO_OP), no more than `target` describes. The caller holds the target's
/// mutex for accumulates. The arguments have passed check_accumulate.
void accumulate_data(const Op& op, const Datatype* element, std::span<const std::byte> source,
                     const Data& target);

/// The predefined datatype with this constant, which may come from another process; nullptr where
/// there is none.
[[nodiscard]] const Datatype* predefined_type(const Library& library,
                                              std::uint32_t handle) noexcept;

/// The elements that a request or call names by `element` and `second` (wire::RmaHeader); nullptr:
/// none, or they make no sense.
[[nodiscard]] const Datatype* named_element(const Library& library, std::uint32_t element,
                                            std::uint32_t second);

/// The predefined operation with this code, which may come from another process; nullptr where there
/// is none.
[[nodiscard]] const Op* predefined_op(const Library& library, std::uint8_t code) noexcept;

}  // namespace fulmar::mpi
