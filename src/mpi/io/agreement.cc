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

/// What each rank gives.
struct Given {
  std::int64_t value;
  std::int32_t code;
  std::int32_t unused;
};

CollTask agree_and_compare(CollContext& exchange, Error& error, std::int64_t& value) {
  const int ranks = exchange.size();
  if (ranks == 1) co_return;
  const Datatype& bytes = exchange.byte_type();
  const Given own{value, error.code(), 0};
  const std::unique_ptr<Given[]> all(new (std::nothrow) Given[static_cast<std::size_t>(ranks)]);
  if (all == nullptr) {
    exchange.note(base::failure(ErrorClass::no_mem, "no memory for %d error codes", ranks));
    co_return;
  }
  const Allgather gather{{&own, sizeof own, &bytes},
                         Blocks::equal(Data{all.get(), sizeof own, &bytes})};
  co_await gather.algorithm(exchange);
  if (exchange.result().failed()) co_return;
  const Given* const begin = all.get();
  const Given* const end = begin + ranks;
  for (const Given* each = begin; each != end; ++each) value = std::min(value, each->value);
  const Given* const first =
      std::find_if(begin, end, [](const Given& given) { return given.code != 0; });
  if (first == end) co_return;
  const int teller = static_cast<int>(first - begin);
  std::array<char, text_bytes> text{};
  if (teller == exchange.rank())
    std::snprintf(text.data(), text.size(), "%s", error.text().c_str());
  const Bcast tell{{text.data(), text_bytes, &bytes}, teller};
  co_await tell.algorithm(exchange);
  text.back() = '\0';
  if (error.ok()) {
    error = base::failure(Error::from_code(first->code).error_class(), "rank %d of the file: %s",
                          teller, text.data());
  }
}

}  // namespace

CollTask agree_within(CollContext& exchange, Error& error) {
  std::int64_t nothing = 0;
  co_await agree_and_compare(exchange, error, nothing);
}

Error agree(Comm& comm, Error mine) {
  std::int64_t nothing = 0;
  return agree_on_least(comm, mine, nothing);
}

Error agree_on_least(Comm& comm, Error mine, std::int64_t& value) {
  CollContext exchange(comm);
  const Error failed = exchange.run(agree_and_compare(exchange, mine, value));
  return failed.failed() ? failed : mine;
}

Error tell_all(Comm& comm, void* data, std::size_t bytes) {
  return bcast({data, static_cast<Count>(bytes), comm.library->find<Datatype>(MPI_BYTE)}, 0, comm);
}

}  // namespace fulmar::mpi
