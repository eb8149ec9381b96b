// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/check/check_result.h"

#include <cstdio>

namespace fulmar::mpi {

const BasicType* element_of(const Datatype& type) noexcept {
  const BasicType* basic = type.signature->basic;
  const bool packed =
      basic != nullptr && basic->handle == reinterpret_cast<std::uintptr_t>(MPI_PACKED);
  return packed ? nullptr : basic;
}

void CheckResult::refuse(base::ErrorClass wrong, const std::string& text) noexcept {
  if (!is_good()) return;
  error_class_ = static_cast<std::int32_t>(wrong);
  std::snprintf(text_.data(), text_.size(), "%s", text.c_str());
}

base::Error CheckResult::error(const char* rule) const noexcept {
  if (is_good()) return {};
  return base::failure(static_cast<base::ErrorClass>(error_class_),
                       "%.*s; %s (FULMAR_CHECK=collectives)", static_cast<int>(text_.size()),
                       text_.data(), rule);
}

CollTask CheckResult::spread(CollContext& exchange, CheckResult& check_result) {
  const Datatype& byte = exchange.byte_type();
  if (exchange.rank() != 0) {
    co_await exchange.receive({&check_result, sizeof check_result, &byte}, 0);
    co_return;
  }
  for (int rank = 1; rank < exchange.size(); ++rank) {
    co_await exchange.send({&check_result, sizeof check_result, &byte}, rank);
  }
}

}  // namespace fulmar::mpi
