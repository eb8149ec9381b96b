// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/sync/exchange.h"

#include "mpi/coll/told_error.h"

namespace fulmar::mpi {

using base::Error;

Error agree(Comm& comm, const Error& own) {
  std::vector<int> codes;
  if (const Error bad = gather_all(comm, own.code(), codes); bad.failed()) return bad;
  return agreed(comm, own, codes);
}

Error agreed(Comm& comm, const Error& own, const std::vector<int>& codes) {
  for (std::size_t rank = 0; rank < codes.size(); ++rank) {
    if (codes[rank] == 0) continue;
    return told_error(comm, own, static_cast<int>(rank), codes[rank], "window");
  }
  return {};
}

}  // namespace fulmar::mpi
