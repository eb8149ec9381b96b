// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/bootstrap/bootstrap.h"

#include "wire/value_text.h"

namespace fulmar::runtime::bootstrap {
namespace {

std::string part_key(const std::string& key, std::size_t part) {
  return part == 0 ? key : key + "." + std::to_string(part);
}

}  // namespace

base::Error Bootstrap::not_offered(const char* what, base::ErrorClass error_class) const {
  return base::failure(
      error_class,
      "this launcher (%s) %s; Fulmar's mpiexec, Hydra, prterun and srun --mpi=pmi2 can", protocol(),
      what);
}

base::Error publish_bytes(Bootstrap& bootstrap, const std::string& key,
                          std::span<const std::byte> bytes) {
  auto parts = wire::encode_value(bytes);
  if (parts.failed()) return parts.error();
  for (std::size_t part = 0; part < parts->size(); ++part) {
    const base::Error error = bootstrap.publish(part_key(key, part), parts.value()[part]);
    if (error.failed()) return error;
  }
  return {};
}

base::Result<std::vector<std::byte>> lookup_bytes(Bootstrap& bootstrap, std::uint32_t rank,
                                                  const std::string& key) {
  std::vector<std::string> parts;
  std::size_t count = 1;
  while (parts.size() < count) {
    auto part = bootstrap.lookup(rank, part_key(key, parts.size()));
    if (part.failed()) return part.error();
    parts.push_back(std::move(*part));
    if (parts.size() > 1) continue;
    const auto said = wire::value_parts(parts[0]);
    if (said.failed()) return said.error();
    count = said.value();
  }
  return wire::decode_value(parts);
}

}  // namespace fulmar::runtime::bootstrap
