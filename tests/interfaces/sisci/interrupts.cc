// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Interrupts without and with data, and at words of segments; a program without MPI.
// ranks: 2 4
// networks: tcp
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "sisci/calls.h"

namespace {

using test::error_of;
using test::expect;
using test::expect_equal;
using test::expect_error;
using test::expect_ok;

constexpr auto no_callback = sci_cb_interrupt_t{nullptr};
constexpr auto no_data_callback = sci_cb_data_interrupt_t{nullptr};
constexpr auto no_argument = static_cast<void*>(nullptr);

/// A connection to an interrupt of another node, tried until it is there.
sci_remote_interrupt_t connect(sci_desc_t device, unsigned int node, unsigned int number) {
  sci_remote_interrupt_t remote = nullptr;
  test::await(
      [&] {
        const sci_error_t error = error_of(SCIConnectInterrupt, device, &remote, node, 0U, number,
                                           SCI_INFINITE_TIMEOUT, 0U);
        if (error != SCI_ERR_NO_SUCH_INTNO) expect_ok(error, "SCIConnectInterrupt");
        return error != SCI_ERR_NO_SUCH_INTNO;
      },
      "an interrupt");
  return remote;
}
sci_remote_data_interrupt_t connect_data(sci_desc_t device, unsigned int node,
                                         unsigned int number) {
  sci_remote_data_interrupt_t remote = nullptr;
  test::await(
      [&] {
        const sci_error_t error = error_of(SCIConnectDataInterrupt, device, &remote, node, 0U,
                                           number, SCI_INFINITE_TIMEOUT, 0U);
        return error != SCI_ERR_NO_SUCH_INTNO;
      },
      "a data interrupt");
  return remote;
}

struct Ring {
  sci_desc_t device = nullptr;
  unsigned int own = 0;
  unsigned int count = 0;
  unsigned int next() const { return (own + 1) % count; }
  /// Everybody has come here: the turn goes round twice.
  void barrier() const {
    for (int lap = 0; lap < 2; ++lap) {
      if (own == 0) trigger();
      expect_ok(error_of(SCIWaitForInterrupt, turn, SCI_INFINITE_TIMEOUT, 0U), "the turn");
      if (own != 0) trigger();
    }
  }
  void trigger() const { expect_ok(error_of(SCITriggerInterrupt, to_next, 0U), "a trigger"); }
  sci_local_interrupt_t turn = nullptr;
  sci_remote_interrupt_t to_next = nullptr;
};

sci_error_t create(sci_desc_t device, sci_local_interrupt_t* interrupt, unsigned int* number,
                   unsigned int flags) {
  return error_of(SCICreateInterrupt, device, interrupt, 0U, number, no_callback, no_argument,
                  flags);
}

std::atomic<int> calls{0};
sci_callback_action_t on_interrupt(void* argument, sci_local_interrupt_t interrupt,
                                   sci_error_t status) {
  expect(interrupt != nullptr && argument == &calls, "its argument");
  expect_ok(status, "an interrupt's callback");
  ++calls;
  return SCI_CALLBACK_CONTINUE;
}

void check_errors(const Ring& ring) {
  sci_local_interrupt_t first = nullptr;
  sci_local_interrupt_t second = nullptr;
  unsigned int number = 77;
  expect_ok(create(ring.device, &first, &number, SCI_FLAG_FIXED_INTNO), "number 77");
  expect_error(create(ring.device, &second, &number, SCI_FLAG_FIXED_INTNO), SCI_ERR_INTNO_USED,
               "77 again");
  expect_error(create(ring.device, &second, &number, 0x40U), SCI_ERR_ILLEGAL_FLAG, "no flag");
  unsigned int free_number = 77;
  expect_ok(create(ring.device, &second, &free_number, 0), "a free number");
  expect(free_number != 77, "another number");
  expect_ok(error_of(SCIRemoveInterrupt, second, 0U), "SCIRemoveInterrupt");
  expect_error(error_of(SCIWaitForInterrupt, first, 1U, 0U), SCI_ERR_TIMEOUT, "nothing comes");
  // Those that are not counted are one until they are taken.
  sci_remote_interrupt_t self = connect(ring.device, ring.own, 77);
  for (int i = 0; i < 3; ++i) expect_ok(error_of(SCITriggerInterrupt, self, 0U), "a trigger");
  expect_ok(error_of(SCIWaitForInterrupt, first, 0U, 0U), "three in one");
  expect_error(error_of(SCIWaitForInterrupt, first, 0U, 0U), SCI_ERR_TIMEOUT, "no more");
  std::thread remover([&] { expect_ok(error_of(SCIRemoveInterrupt, first, 0U), "removed"); });
  const sci_error_t waited = error_of(SCIWaitForInterrupt, first, SCI_INFINITE_TIMEOUT, 0U);
  remover.join();
  expect(waited == SCI_ERR_CANCELLED || waited == SCI_ERR_ILLEGAL_PARAMETER, "removed meanwhile");
  expect_error(error_of(SCITriggerInterrupt, self, 0U), SCI_ERR_NOT_CONNECTED, "its end");
  expect_ok(error_of(SCIDisconnectInterrupt, self, 0U), "SCIDisconnectInterrupt");
  expect_error(error_of(SCIConnectInterrupt, ring.device, &self, ring.next(), 0U, 4711U,
                        SCI_INFINITE_TIMEOUT, 0U),
               SCI_ERR_NO_SUCH_INTNO, "no interrupt");
  expect_error(error_of(SCIConnectInterrupt, ring.device, &self, ring.count, 0U, 1U, 0U, 0U),
               SCI_ERR_NO_SUCH_NODEID, "no node");
}

void check_counting(const Ring& ring) {
  sci_local_interrupt_t counting = nullptr;
  sci_local_interrupt_t shared = nullptr;
  sci_local_interrupt_t called = nullptr;
  unsigned int number = 100;
  expect_ok(create(ring.device, &counting, &number,
                   SCI_FLAG_FIXED_INTNO | SCI_FLAG_COUNTING_INT | SCI_FLAG_SHARED_INT),
            "a counting one");
  expect_ok(create(ring.device, &shared, &number, SCI_FLAG_FIXED_INTNO | SCI_FLAG_SHARED_INT),
            "one that shares its number");
  expect_ok(error_of(SCICreateInterrupt, ring.device, &called, 0U, &number,
                     sci_cb_interrupt_t{on_interrupt}, static_cast<void*>(&calls),
                     SCI_FLAG_FIXED_INTNO | SCI_FLAG_SHARED_INT | SCI_FLAG_COUNTING_INT |
                         SCI_FLAG_USE_CALLBACK),
            "one with a callback");
  expect_error(error_of(SCIWaitForInterrupt, called, 0U, 0U), SCI_ERR_ILLEGAL_OPERATION,
               "it has a callback");
  ring.barrier();
  const sci_remote_interrupt_t remote = connect(ring.device, ring.next(), 100);
  constexpr int triggers = 500;
  for (int i = 0; i < triggers; ++i) {
    expect_ok(error_of(SCITriggerInterrupt, remote, 0U), "SCITriggerInterrupt");
  }
  for (int i = 0; i < triggers; ++i) {
    expect_ok(error_of(SCIWaitForInterrupt, counting, SCI_INFINITE_TIMEOUT, 0U), "each counts");
  }
  expect_error(error_of(SCIWaitForInterrupt, counting, 0U, 0U), SCI_ERR_TIMEOUT, "and no more");
  expect_ok(error_of(SCIWaitForInterrupt, shared, SCI_INFINITE_TIMEOUT, 0U), "the other one");
  test::await([] { return calls == triggers; }, "the callbacks");
  ring.barrier();
  expect_ok(error_of(SCIDisconnectInterrupt, remote, 0U), "SCIDisconnectInterrupt");
  for (const auto each : {counting, shared, called}) {
    expect_ok(error_of(SCIRemoveInterrupt, each, 0U), "SCIRemoveInterrupt");
  }
}

std::atomic<unsigned int> received{0};
sci_callback_action_t on_data(void*, sci_local_data_interrupt_t, void* data, unsigned int length,
                              sci_error_t status) {
  unsigned int value = 0;
  expect_ok(status, "a data interrupt's callback");
  if (expect(length == sizeof value, "its length")) std::memcpy(&value, data, sizeof value);
  received += value;
  return SCI_CALLBACK_CONTINUE;
}

void check_data(const Ring& ring) {
  sci_local_data_interrupt_t local = nullptr;
  sci_local_data_interrupt_t other = nullptr;
  unsigned int number = 7;
  const auto make = [&](sci_local_data_interrupt_t* interrupt, unsigned int wanted) {
    number = wanted;
    return error_of(SCICreateDataInterrupt, ring.device, interrupt, 0U, &number, no_data_callback,
                    no_argument, SCI_FLAG_FIXED_INTNO);
  };
  expect_ok(make(&local, 7), "SCICreateDataInterrupt");
  expect_error(make(&other, 7), SCI_ERR_INTNO_USED, "twice");
  ring.barrier();
  const sci_remote_data_interrupt_t remote = connect_data(ring.device, ring.next(), 7);
  std::vector<unsigned char> sent(SCI_DATA_INTERRUPT_BYTES + 1, 9);
  const auto trigger = [&](std::size_t length) {
    return error_of(SCITriggerDataInterrupt, remote, static_cast<void*>(sent.data()),
                    static_cast<unsigned int>(length), 0U);
  };
  expect_error(trigger(sent.size()), SCI_ERR_OUT_OF_RANGE, "too long");
  expect_error(trigger(0), SCI_ERR_ILLEGAL_PARAMETER, "nothing");
  expect_ok(trigger(SCI_DATA_INTERRUPT_BYTES), "as long as can be");
  expect_ok(trigger(5), "a short one");
  std::vector<unsigned char> got(SCI_DATA_INTERRUPT_BYTES);
  unsigned int length = 10;
  const auto take = [&](unsigned int timeout) {
    return error_of(SCIWaitForDataInterrupt, local, static_cast<void*>(got.data()), &length,
                    timeout, 0U);
  };
  expect_error(take(SCI_INFINITE_TIMEOUT), SCI_ERR_OUT_OF_RANGE, "too little room");
  expect_equal(length, SCI_DATA_INTERRUPT_BYTES, "as much as is needed");
  expect_ok(take(SCI_INFINITE_TIMEOUT), "SCIWaitForDataInterrupt");
  expect(got.back() == 9, "the data");
  expect_ok(take(SCI_INFINITE_TIMEOUT), "the next");
  expect_equal(length, 5U, "its length");
  expect_error(take(0), SCI_ERR_TIMEOUT, "no more");
  ring.barrier();
  for (int i = 0; i < 1024; ++i) expect_ok(trigger(1), "room for 1024");
  expect_error(trigger(1), SCI_ERR_NOSPC, "no room for more");
  ring.barrier();
  expect_ok(error_of(SCIRemoveDataInterrupt, local, 0U), "SCIRemoveDataInterrupt");
  ring.barrier();
  expect_error(trigger(1), SCI_ERR_NOT_CONNECTED, "removed");
  expect_ok(error_of(SCIDisconnectDataInterrupt, remote, 0U), "SCIDisconnectDataInterrupt");
  // With a callback.
  number = 8;
  expect_ok(error_of(SCICreateDataInterrupt, ring.device, &local, 0U, &number,
                     sci_cb_data_interrupt_t{on_data}, no_argument,
                     SCI_FLAG_FIXED_INTNO | SCI_FLAG_USE_CALLBACK),
            "SCICreateDataInterrupt");
  expect_error(take(0), SCI_ERR_ILLEGAL_OPERATION, "it has a callback");
  ring.barrier();
  const sci_remote_data_interrupt_t called = connect_data(ring.device, ring.next(), 8);
  for (unsigned int value = 1; value <= 100; ++value) {
    expect_ok(error_of(SCITriggerDataInterrupt, called, static_cast<void*>(&value),
                       static_cast<unsigned int>(sizeof value), 0U),
              "SCITriggerDataInterrupt");
  }
  test::await([] { return received == 5050; }, "the callbacks");
  ring.barrier();
  expect_ok(error_of(SCIDisconnectDataInterrupt, called, 0U), "SCIDisconnectDataInterrupt");
  expect_ok(error_of(SCIRemoveDataInterrupt, local, 0U), "SCIRemoveDataInterrupt");
}

/// Interrupts at words: one that a write triggers, and one that an addition to 0 does.
void check_words(const Ring& ring) {
  const test::Exported own(ring.device, 5, 4096);
  sci_local_interrupt_t plain = nullptr;
  sci_local_interrupt_t conditional = nullptr;
  const auto add = [&](sci_local_interrupt_t* interrupt, std::size_t offset, unsigned int flags) {
    return error_of(SCIRegisterInterruptFlag, 0U, interrupt, own.segment, offset, no_callback,
                    no_argument, flags);
  };
  expect_error(add(&plain, 2, 0), SCI_ERR_OFFSET_ALIGNMENT, "between words");
  expect_error(add(&plain, 4096, 0), SCI_ERR_OUT_OF_RANGE, "beyond");
  expect_ok(add(&plain, 8, 0), "SCIRegisterInterruptFlag");
  expect_error(add(&conditional, 8, 0), SCI_ERR_INTNO_USED, "the same word");
  expect_ok(add(&conditional, 16, SCI_FLAG_CONDITIONAL_INTERRUPT), "a conditional one");
  expect_error(error_of(SCIEnableConditionalInterrupt, plain, 0U), SCI_ERR_ILLEGAL_OPERATION,
               "not conditional");
  expect_error(error_of(SCIDisableConditionalInterrupt, plain, 0U), SCI_ERR_ILLEGAL_OPERATION,
               "not conditional");
  unsigned int none = 0;
  expect_error(error_of(SCIGetConditionalInterruptTrigCounter, plain, &none, 0U),
               SCI_ERR_ILLEGAL_OPERATION, "not conditional");
  ring.barrier();
  {
    const test::Imported next(ring.device, ring.next(), 5);
    const test::Mapped writes(next.segment, 0, 4096,
                              SCI_FLAG_NO_ADDRESS_MAP | SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP);
    const test::Mapped adds(next.segment, 0, 4096,
                            SCI_FLAG_NO_ADDRESS_MAP | SCI_FLAG_CONDITIONAL_INTERRUPT_MAP);
    std::array<unsigned int, 4> words{1, 2, 3, 4};
    const auto write = [&](sci_map_t map, std::size_t offset, std::size_t size) {
      return error_of(SCIMemCpy, sci_sequence_t{nullptr}, static_cast<void*>(words.data()), map,
                      offset, size, SCI_FLAG_ERROR_CHECK);
    };
    expect_ok(write(writes.map, 64, 16), "a write beside it");
    expect_ok(write(writes.map, 0, 16), "a write over the word");
    expect_ok(error_of(SCIWaitForInterrupt, plain, SCI_INFINITE_TIMEOUT, 0U), "the interrupt");
    expect_equal(own.memory[8], 3, "the data came before");
    expect_error(error_of(SCIWaitForInterrupt, plain, 0U, 0U), SCI_ERR_TIMEOUT, "once");
    expect_error(write(adds.map, 16, 8), SCI_ERR_SIZE_ALIGNMENT, "two words");
    expect_error(write(adds.map, 18, 4), SCI_ERR_OFFSET_ALIGNMENT, "between words");
    for (int i = 0; i < 3; ++i) expect_ok(write(adds.map, 16, 4), "an addition");
    expect_ok(error_of(SCIWaitForInterrupt, conditional, SCI_INFINITE_TIMEOUT, 0U), "0 became 1");
    ring.barrier();
    unsigned int counter = 0;
    unsigned int word = 0;
    expect_ok(error_of(SCIGetConditionalInterruptTrigCounter, conditional, &counter, 0U),
              "counter");
    expect_equal(counter, 3U, "three triggers");
    std::memcpy(&word, own.memory + 16, sizeof word);
    expect_equal(word, 3U, "three additions");
    expect_error(error_of(SCIWaitForInterrupt, conditional, 0U, 0U), SCI_ERR_TIMEOUT,
                 "one interrupt");
    ring.barrier();
    expect_ok(error_of(SCIDisableConditionalInterrupt, conditional, 0U), "disabled");
    std::memset(own.memory + 16, 0, 4);
    ring.barrier();
    expect_ok(write(adds.map, 16, 4), "an addition to a disabled one");
    ring.barrier();
    expect_error(error_of(SCIWaitForInterrupt, conditional, 0U, 0U), SCI_ERR_TIMEOUT, "disabled");
    expect_ok(error_of(SCIEnableConditionalInterrupt, conditional, 0U), "enabled");
    ring.barrier();
    expect_ok(write(adds.map, 16, 4), "an addition");
    expect_ok(error_of(SCIWaitForInterrupt, conditional, SCI_INFINITE_TIMEOUT, 0U),
              "the interrupt");
    ring.barrier();
  }
  // A thread changes the word all the time.
  std::atomic<bool> stops{false};
  std::thread counter([&] {
    auto* const word = reinterpret_cast<unsigned int*>(own.memory + 16);
    while (!stops) __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
  });
  // Whether one falls between the two accesses of a call depends on the cores that there are.
  for (int i = 0; i < 20'000; ++i) {
    const sci_error_t error = error_of(SCIEnableConditionalInterrupt, conditional, 0U);
    expect(error == SCI_ERR_OK || error == SCI_ERR_COND_INT_RACE_PROBLEM, "enabled, or a race");
  }
  stops = true;
  counter.join();
  expect_ok(error_of(SCIRemoveInterrupt, plain, 0U), "SCIRemoveInterrupt");
  expect_ok(error_of(SCIRemoveInterrupt, conditional, 0U), "SCIRemoveInterrupt");
  ring.barrier();
}

}  // namespace

int main() {
  expect_ok(error_of(SCIInitialize, 0U), "SCIInitialize");
  {
    const test::Device device;
    Ring ring;
    ring.device = device;
    ring.own = test::node_id();
    test::own_rank() = static_cast<int>(ring.own);
    while (SCIProbeNode(device, 0, ring.count, 0, nullptr) == 1) ++ring.count;
    unsigned int number = 1;
    expect_ok(create(device, &ring.turn, &number, SCI_FLAG_FIXED_INTNO | SCI_FLAG_COUNTING_INT),
              "the turn");
    ring.to_next = connect(device, ring.next(), 1);
    check_errors(ring);
    check_counting(ring);
    check_data(ring);
    check_words(ring);
    ring.barrier();
    expect_ok(error_of(SCIDisconnectInterrupt, ring.to_next, 0U), "SCIDisconnectInterrupt");
    expect_ok(error_of(SCIRemoveInterrupt, ring.turn, 0U), "SCIRemoveInterrupt");
  }
  SCITerminate();
  return test::result();
}
