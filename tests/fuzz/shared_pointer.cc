// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/shared_pointer.h"

#include "fuzz/one_process.h"
#include "fuzz/targets.h"

namespace fulmar::fuzz {

void shared_pointer(std::span<const std::uint8_t> bytes) {
  OneProcess process;
  mpi::SharedPointer pointer;
  if (pointer.open(*process.comm, mpi::SharedPointer::Place::messages).failed()) std::abort();
  constexpr std::uint32_t line = mpi::Comm::collective_bit;
  constexpr int request_tag = 0;  // the first tags of the communicator
  constexpr int answer_tag = 1;
  Input input(bytes);
  std::vector<std::unique_ptr<device::Message>> sent;
  while (!input.empty()) {
    const std::uint8_t kind = input.byte();
    const int tag = kind % 8 == 7 ? kind / 8 : request_tag;
    std::vector<std::byte> question = input.bytes(kind % 3 == 0 ? 8 : kind % 40);
    if (kind == 255) question.resize(100'000);  // a rendezvous
    sent.push_back(process.send(OneProcess::hostile, line, tag, question));
    process.cluster.step();
  }
  process.cluster.step(20);
  // An honest rank moves the pointer on as if nothing had been.
  const mpi::Count before = pointer.get().value();
  constexpr mpi::Count added = 1000;
  const auto question =
      process.send(OneProcess::honest, line, request_tag, std::as_bytes(std::span(&added, 1)));
  const auto answer = process.receive(OneProcess::honest, line, answer_tag, sizeof(mpi::Count));
  process.go_on_until([&] { return answer->done(); });
  mpi::Count told = 0;
  std::memcpy(&told, answer->memory.data(), sizeof told);
  const auto moved =
      static_cast<std::uint64_t>(pointer.get().value()) - static_cast<std::uint64_t>(before);
  if (told != before || moved != static_cast<std::uint64_t>(added)) std::abort();
  process.end_hostile();
  pointer.close();
}

}  // namespace fulmar::fuzz
