// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/collective/agreement.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <new>
#include <span>

#include "mpi/coll/calls.h"
#include "mpi/coll/operations.h"
#include "mpi/coll/told_error.h"

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

/// One entry a rank.
class Table {
 public:
  explicit Table(int ranks) noexcept : ranks_(static_cast<std::size_t>(ranks)) {
    if (ranks_ > few_.size()) many_.reset(new (std::nothrow) Given[ranks_]);
  }
  [[nodiscard]] Given* data() noexcept { return ranks_ <= few_.size() ? few_.data() : many_.get(); }
  [[nodiscard]] Error error() noexcept {
    if (data() != nullptr) return {};
    return base::failure(ErrorClass::no_mem, "no memory for %zu error codes", ranks_);
  }
  [[nodiscard]] std::int64_t least() noexcept {
    std::int64_t value = data()[0].value;
    for (const Given& each : all()) value = std::min(value, each.value);
    return value;
  }
  /// The lowest rank that has an error; -1 if none has.
  [[nodiscard]] int failed_rank() noexcept {
    const auto entries = all();
    const auto first =
        std::ranges::find_if(entries, [](const Given& given) { return given.code != 0; });
    return first == entries.end() ? -1 : static_cast<int>(first - entries.begin());
  }
  [[nodiscard]] int code_of(int rank) noexcept { return data()[rank].code; }
  /// That of a rank, with the text that it has sent.
  [[nodiscard]] Error error_of(int rank, const char* text) noexcept {
    const Error plain = Error::from_code(code_of(rank));
    return base::failure(plain.error_class(), "rank %d of the file: %s", rank, text);
  }

 private:
  [[nodiscard]] std::span<const Given> all() noexcept { return {data(), ranks_}; }

  std::size_t ranks_;
  std::array<Given, 8> few_;
  std::unique_ptr<Given[]> many_;
};

using Text = std::array<char, text_bytes>;

Text text_of(const Error& error, bool is_own) {
  Text text{};
  if (is_own) std::snprintf(text.data(), text.size(), "%s", error.text().c_str());
  return text;
}

}  // namespace

CollTask agree_within(CollContext& exchange, Error& error) {
  const int ranks = exchange.size();
  if (ranks == 1) co_return;
  const Datatype& bytes = exchange.byte_type();
  const Given own{0, error.code(), 0};
  Table table(ranks);
  exchange.note(table.error());
  if (exchange.result().failed()) co_return;
  const Allgather gather{{&own, sizeof own, &bytes},
                         Blocks::equal(Data{table.data(), sizeof own, &bytes})};
  co_await gather.algorithm(exchange);
  if (exchange.result().failed()) co_return;
  const int failed = table.failed_rank();
  if (failed < 0) co_return;
  Text text = text_of(error, failed == exchange.rank());
  const Bcast tell{{text.data(), text_bytes, &bytes}, failed};
  co_await tell.algorithm(exchange);
  text.back() = '\0';
  if (error.ok()) error = table.error_of(failed, text.data());
}

Error agree(Comm& comm, Error mine) {
  std::int64_t nothing = 0;
  return agree_on_least(comm, mine, nothing);
}

Error agree_on_least(Comm& comm, const Error& mine, std::int64_t& value) {
  if (comm.size() == 1) return mine;
  const Datatype* const bytes = comm.library->find<Datatype>(MPI_BYTE);
  const Given own{value, mine.code(), 0};
  Table table(comm.size());
  if (table.error().failed()) return table.error();
  const Error failure =
      allgather({&own, sizeof own, bytes}, {table.data(), sizeof own, bytes}, comm);
  if (failure.failed()) return failure;
  value = table.least();
  const int failed = table.failed_rank();
  if (failed < 0) [[likely]]
    return {};
  return told_error(comm, mine, failed, table.code_of(failed), "file");
}

Error tell_all(Comm& comm, void* data, std::size_t bytes) {
  return bcast({data, static_cast<Count>(bytes), comm.library->find<Datatype>(MPI_BYTE)}, 0, comm);
}

}  // namespace fulmar::mpi
