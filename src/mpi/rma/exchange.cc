// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/exchange.h"

namespace fulmar::mpi {

using base::Error;
using base::ErrorClass;
using base::failure;

Error failed_elsewhere(std::size_t rank, std::uint32_t error_class) {
  return failure(static_cast<ErrorClass>(error_class),
                 "the window was not made, because rank %zu failed to; its own error says why",
                 rank);
}

Error agree(Comm& comm, const Error& own) {
  std::vector<std::uint32_t> failures;
  const auto code = static_cast<std::uint32_t>(own.code());
  if (const Error bad = gather_all(comm, code, failures); bad.failed()) return bad;
  if (own.failed()) return own;
  for (std::size_t rank = 0; rank < failures.size(); ++rank) {
    if (failures[rank] != 0) return failed_elsewhere(rank, failures[rank]);
  }
  return {};
}

}  // namespace fulmar::mpi
