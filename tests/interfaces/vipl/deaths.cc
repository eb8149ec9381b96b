// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The last process is killed in the middle of a stream of messages, to it and from it. Connections to it break,
// descriptors end, requests to it fail; connections between the others go on. Run by test_deaths.py, under
// --on-failure=continue.
#include <atomic>
#include <csignal>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "vipl/calls.h"

namespace {

using test::add;
using test::Device;
using test::Endpoint;
using test::expect;
using test::expect_ok;
using test::expect_return;
using test::Interface;
using test::Memory;

constexpr std::size_t bytes = std::size_t{1} << 20;
constexpr std::size_t data_at = 4096;

/// Messages in both directions. Each end sends no more than `ahead` beyond what it has received, so that the other one
/// always has receive descriptors.
class Streams {
 public:
  Streams(const Device& device, unsigned other, std::uint32_t number)
      : out_(device, data_at + bytes),
        in_(device, data_at + bytes),
        vi_(device, VIP_SERVICE_RELIABLE_DELIVERY) {
    for (std::size_t slot = 0; slot < slots; ++slot) post(in_, slot);
    for (std::size_t slot = 0; slot < ahead; ++slot) idle_.push_back(slot);
    test::connect(device, vi_, other, number);
  }
  /// Takes what is done, and posts as much again, while the connection holds.
  void step() {
    VIP_DESCRIPTOR* done = nullptr;
    if (const VIP_RETURN result = VipRecvDone(vi_, &done); result == VIP_SUCCESS) {
      ++received_;
      post(in_, slot_of(in_, *done));
    } else if (result != VIP_NOT_DONE) {
      receives_failed_ = true;
      check_error(*done);
    }
    if (const VIP_RETURN result = VipSendDone(vi_, &done); result == VIP_SUCCESS) {
      idle_.push_back(slot_of(out_, *done));
    } else if (result != VIP_NOT_DONE) {
      sends_failed_ = true;
      check_error(*done);
    }
    while (!has_failed() && !idle_.empty() && sent_ < received_ + ahead) {
      ++sent_;
      post(out_, idle_.back());
      idle_.pop_back();
    }
  }
  [[nodiscard]] unsigned received() const { return received_; }
  /// A receive has ended with an error, and so has a send, if one was under way.
  [[nodiscard]] bool has_ended() const {
    return receives_failed_ && (sends_failed_ || idle_.size() == ahead);
  }
  [[nodiscard]] const Interface& vi() const { return vi_; }

 private:
  static constexpr std::size_t slots = 16;
  static constexpr unsigned ahead = 4;

  [[nodiscard]] bool has_failed() const { return sends_failed_ || receives_failed_; }
  static std::size_t slot_of(const Memory& memory, const VIP_DESCRIPTOR& descriptor) {
    return static_cast<std::size_t>(reinterpret_cast<const unsigned char*>(&descriptor) -
                                    memory.data) /
           64;
  }
  /// Flushed, or failed; what had begun to move data says so, too.
  static void check_error(const VIP_DESCRIPTOR& descriptor) {
    constexpr unsigned reasons = VIP_STATUS_DESC_FLUSHED_ERROR | VIP_STATUS_TRANSPORT_ERROR;
    const unsigned errors = descriptor.CS.Status & VIP_STATUS_ERROR_MASK;
    expect((errors & reasons) != 0 && (errors & ~(reasons | VIP_STATUS_PARTIAL_ERROR)) == 0,
           "the status of a descriptor of a broken connection");
  }
  void post(const Memory& memory, std::size_t slot) const {
    VIP_DESCRIPTOR& descriptor = memory.descriptor(slot * 64);
    add(descriptor, memory, data_at, bytes);
    const bool sends = &memory == &out_;
    expect_ok(sends ? VipPostSend(vi_, &descriptor, memory.handle)
                    : VipPostRecv(vi_, &descriptor, memory.handle),
              "a post");
  }

  Memory out_;
  Memory in_;
  Interface vi_;
  std::vector<std::size_t> idle_;  ///< of `out_`
  unsigned sent_ = 0;
  unsigned received_ = 0;
  bool sends_failed_ = false;
  bool receives_failed_ = false;
};

/// No survivor waits longer for what it is to learn.
constexpr VIP_ULONG soon_ms = 10'000;
template <class Holds>
void soon(Holds&& holds, const char* what) {
  test::await(std::forward<Holds>(holds), what, std::chrono::seconds(soon_ms / 1000));
}

std::atomic<unsigned>& lost() {
  static std::atomic<unsigned> count{0};
  return count;
}

void survive(const Device& device, unsigned dead) {
  expect_ok(VipErrorCallback(device.nic, nullptr,
                             [](VIP_PVOID, VIP_ERROR_DESCRIPTOR* error) {
                               if (error->ErrorCode == VIP_ERROR_CONN_LOST) ++lost();
                             }),
            "VipErrorCallback");
  {
    // A request of the dead that it does not live to see accepted.
    Endpoint server(device.rank, 3);
    VIP_CONN_HANDLE request = nullptr;
    expect_ok(VipConnectWait(device.nic, server, soon_ms, nullptr, nullptr, &request),
              "VipConnectWait");
    Streams streams(device, dead, 1);
    while (!streams.has_ended()) {
      const unsigned before = streams.received();
      soon(
          [&] {
            streams.step();
            return streams.has_ended() || streams.received() != before;
          },
          "a message, or the end of the streams");
    }
    expect(streams.vi().state() == VIP_STATE_ERROR, "a connection to the dead");
    soon([&] { return lost() != 0; }, "VIP_ERROR_CONN_LOST");
    streams.vi().take_all();
    const Interface vi(device);
    VIP_RETURN late = VIP_INVALID_STATE;
    // The level is another one, as long as there is a client.
    const Interface other_level(device, VIP_SERVICE_UNRELIABLE);
    soon(
        [&] {
          late = VipConnectAccept(request, other_level);
          return late != VIP_INVALID_RELIABILITY_LEVEL;
        },
        "the end of the request");
    expect_return(late, VIP_NOT_REACHABLE, "a client that has ended");
    Endpoint local(device.rank, 1);
    Endpoint remote(dead, 1);
    expect_return(VipConnectRequest(vi, local, remote, soon_ms, nullptr), VIP_NOT_REACHABLE,
                  "a request to it");
    expect_ok(VipConnectPeerRequest(vi, local, remote, soon_ms), "VipConnectPeerRequest");
    expect_return(VipConnectPeerWait(vi, nullptr), VIP_NOT_REACHABLE, "a request to it");
  }
  // The others go on.
  for (unsigned each = 0; each < dead; ++each) {
    if (each != device.rank) test::meet(device, each, 2);
  }
}

/// Asks the other for a connection, for as long as this process lives.
void ask_for_ever(const Device& device, unsigned other) {
  std::thread([&device, other] {
    VIP_VI_ATTRIBUTES attributes = test::vi_attributes(device);
    VIP_VI_HANDLE vi = nullptr;
    expect_ok(VipCreateVi(device.nic, &attributes, nullptr, nullptr, &vi), "VipCreateVi");
    Endpoint local(device.rank, 3);
    Endpoint server(other, 3);
    const VIP_RETURN result = VipConnectRequest(vi, local, server, VIP_INFINITE, nullptr);
    expect_return(result, VIP_TIMEOUT, "a request that has no end");
  }).detach();
}

[[noreturn]] void die(const Device& device, unsigned dead) {
  for (unsigned each = 0; each < dead; ++each) ask_for_ever(device, each);
  std::vector<std::unique_ptr<Streams>> streams;
  for (unsigned each = 0; each < dead; ++each)
    streams.push_back(std::make_unique<Streams>(device, each, 1));
  test::await(
      [&] {
        bool are_moving = true;
        for (const auto& each : streams) {
          each->step();
          are_moving = are_moving && each->received() >= 10;
        }
        return are_moving;
      },
      "messages");
  (void)::raise(SIGKILL);
  std::_Exit(1);
}

}  // namespace

int main() {
  {
    const Device device;
    const unsigned dead = device.size - 1;
    if (device.rank == dead) die(device, dead);
    survive(device, dead);
  }
  return test::result();
}
