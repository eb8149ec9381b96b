// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/agreement.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>

#include "mpi/coll/calls.h"
#include "mpi/coll/operations.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

constexpr std::size_t text_bytes = 400;

}  // namespace

CollTask agree_within(CollContext& exchange, Error& error) {
  const int ranks = exchange.size();
  if (ranks == 1) co_return;
  const Datatype& bytes = exchange.byte_type();
  const std::int32_t own = error.code();
  const std::unique_ptr<std::int32_t[]> codes(new (std::nothrow)
                                                  std::int32_t[static_cast<std::size_t>(ranks)]);
  if (codes == nullptr) {
    exchange.note(base::failure(ErrorClass::no_mem, "no memory for %d error codes", ranks));
    co_return;
  }
  const Allgather gather{{&own, sizeof own, &bytes},
                         Blocks::equal(Data{codes.get(), sizeof own, &bytes})};
  co_await gather.algorithm(exchange);
  const std::int32_t* const begin = codes.get();
  const std::int32_t* const end = begin + ranks;
  const std::int32_t* const first =
      std::find_if(begin, end, [](std::int32_t code) { return code != 0; });
  if (first == end || exchange.result().failed()) co_return;
  const int teller = static_cast<int>(first - begin);
  std::array<char, text_bytes> text{};
  if (teller == exchange.rank())
    std::snprintf(text.data(), text.size(), "%s", error.text().c_str());
  const Bcast tell{{text.data(), text_bytes, &bytes}, teller};
  co_await tell.algorithm(exchange);
  text.back() = '\0';
  if (error.ok()) {
    error = base::failure(Error::from_code(*first).error_class(), "rank %d of the file: %s", teller,
                          text.data());
  }
}

Error agree(Comm& comm, Error mine) {
  CollContext exchange(comm);
  const Error failed = exchange.run(agree_within(exchange, mine));
  return failed.failed() ? failed : mine;
}

Error tell_all(Comm& comm, void* data, std::size_t bytes) {
  return bcast({data, static_cast<Count>(bytes), comm.library->find<Datatype>(MPI_BYTE)}, 0, comm);
}

}  // namespace fulmar::mpi
