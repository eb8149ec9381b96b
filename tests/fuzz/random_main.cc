// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Runs a target on files, or, without any, on random inputs from a fixed seed: what a compiler
// without libFuzzer can do. usage: NAME [FILE...]; FULMAR_FUZZ_RUNS=n, FULMAR_FUZZ_SEED=n
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Small values and zeros are frequent: they reach further than noise does.
std::uint8_t any_byte(std::mt19937_64& random) {
  const std::uint64_t value = random();
  switch (value % 4) {
    case 0:
      return 0;
    case 1:
      return static_cast<std::uint8_t>(value >> 8 & 3);
    default:
      return static_cast<std::uint8_t>(value >> 8);
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::vector<std::uint8_t> input{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  if (argc > 1) return 0;
  const std::uint64_t runs = setting("FULMAR_FUZZ_RUNS", 3000);
  std::mt19937_64 random(setting("FULMAR_FUZZ_SEED", 1));
  for (std::uint64_t run = 0; run < runs; ++run) {
    std::vector<std::uint8_t> input(random() % 600);
    for (std::uint8_t& byte : input) byte = any_byte(random);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%llu runs\n", static_cast<unsigned long long>(runs));
  return 0;
}
