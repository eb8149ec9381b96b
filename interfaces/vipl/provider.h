// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "vipl/handles.h"
#include "vipl/objects.h"

/// VIPL in one process, on SISCI.
///
/// A connected VI has an *area*, a segment that the other end maps. The receiver gives the sender its receive
/// descriptors ahead of time by writing them to the sender's area (receive.h); the sender moves the data to where they
/// say, and writes to the receiver's area how that ended (send.h). Inside a host all of it is stores. Who sleeps does so
/// on the *bell* of its process, a futex word in another segment, which the writer rings; across hosts an interrupt does.
/// Connections are made by messages (messages.h).
///
/// The *manager* is a thread that does what the program's threads cannot wait for: it sends messages, and works for VIs
/// while the program computes. Handlers of the program run on another thread, because they may wait.
///
/// Lock rule: the provider's lock is held before any lock of SISCI. No call of SISCI that waits for callbacks (removing
/// or disconnecting what has one) is made with it, because callbacks take it.
namespace fulmar::vipl {

using Lock = std::unique_lock<std::mutex>;
using Clock = std::chrono::steady_clock;

/// How memory that the program registers is reached: see docs/interfaces/vipl.md.
enum class Registration : std::uint8_t { automatic, shadow, direct };

/// Messages of this length or shorter go through a shadow inside a host, with Registration::automatic:
/// two copies take less time than the exchange that a transfer by the kernel needs.
inline constexpr std::uint64_t shadow_bytes = std::uint64_t{1} << 20;

inline constexpr std::size_t most_descriptors = 4096;
/// What programs of the time, which keep it in an int, can use.
inline constexpr std::uint64_t most_transfer_bytes = INT32_MAX;
inline constexpr std::size_t most_arrived = 4096;
inline constexpr std::size_t most_cq_entries = std::size_t{1} << 20;

/// What is to be called, and what the manager has to remove, without the lock.
struct Jobs {
  struct Call {
    std::uint32_t nic;
    std::function<void()> handler;  ///< of the program
  };
  std::deque<Call> calls;
  std::vector<std::unique_ptr<RemoteSegment>> segments;
};

struct Provider {
  Provider() = default;
  Provider(const Provider&) = delete;
  Provider& operator=(const Provider&) = delete;
  ~Provider() = default;

  std::mutex mutex;
  sci_desc_t device = nullptr;
  std::uint32_t node = 0;
  std::array<std::uint8_t, VIP_HOST_ADDRESS_BYTES> address{};
  Registration registration = Registration::automatic;

  LocalPart bell_part;
  wire::ViplBell* bell = nullptr;
  sci_local_interrupt_t bell_interrupt = nullptr;
  sci_local_data_interrupt_t control = nullptr;

  Handles<Nic, Kind::nic> nics;
  Handles<Ptag, Kind::ptag> ptags;
  Handles<Region, Kind::region> regions;
  Handles<Vi, Kind::vi> vis;
  Handles<Cq, Kind::cq> cqs;
  Handles<Arrived, Kind::connection> connections;

  std::map<std::uint32_t, std::unique_ptr<Peer>> peers;  ///< by node
  std::unordered_map<std::uint64_t, std::unique_ptr<RemoteSegment>> remote_segments;
  std::list<wire::ViplMessage> arrived;             ///< requests that nobody has taken
  std::unordered_map<std::uint64_t, Vi*> by_token;  ///< VIs that are connecting or connected
  std::uint32_t last_segment = 0;
  bool uses_transfers = false;  ///< some remote segment cannot be addressed
  VIP_COUNTERS counters{};

  // The threads'.
  std::thread manager;
  std::thread caller;
  std::condition_variable has_calls;
  bool is_stopping = false;
  bool is_manager_asleep = false;
  bool is_manager_listening = false;  ///< the bell is rung for it, too
  bool has_work = false;              ///< since the manager looked last
  std::uint64_t last_question = 0;
  std::uint32_t waiters = 0;  ///< threads in `wait`
  std::uint32_t running = 0;  ///< NIC whose handler runs; 0: none
  Jobs jobs;
  wire::ViplPush scratch;  ///< an entry that is being made
};

/// The one object behind the C interface; never gone, and of use between the first VipOpenNic and the last VipCloseNic.
[[nodiscard]] Provider& the_provider() noexcept;

/// Joins the job and starts what there is of the provider. VIP_SUCCESS or VIP_ERROR_RESOURCE.
[[nodiscard]] VIP_RETURN open(Provider& provider);
/// The opposite; no NIC is open.
void close(Provider& provider);
/// Of the calling thread: whether it runs a handler of the program.
[[nodiscard]] bool is_in_handler() noexcept;
/// Has a handler called, for this NIC.
void call_later(Provider& provider, std::uint32_t nic, std::function<void()> handler);
/// What the manager runs.
void manage(Provider& provider);

/// Where a waiting call gives up.
class Deadline {
 public:
  explicit Deadline(VIP_ULONG timeout_ms) noexcept;
  [[nodiscard]] bool is_over() const noexcept;
  /// For futex_wait: -1 is for ever.
  [[nodiscard]] std::int64_t left_ns() const noexcept;
  [[nodiscard]] bool is_infinite() const noexcept { return is_infinite_; }
  [[nodiscard]] Clock::time_point end() const noexcept { return end_; }

 private:
  bool is_infinite_;
  bool is_now_;
  Clock::time_point end_;
};

/// The lock of the provider. Requires nothing of it, also not that it is open.
[[nodiscard]] inline Lock locked(Provider& provider) { return Lock(provider.mutex); }

/// Gives the lock up for a moment, or, with `sleeps`, until the bell rings or the deadline. `seen` is the bell's count
/// from before the caller looked at what it waits for.
void pause(Lock& lock) noexcept;
/// For calls that look once and have found nothing: transfers move by threads of the library, which may need the core of
/// a program that calls in a loop. Gives the lock up.
void give_way(const Provider& provider, Lock& lock) noexcept;
void sleep(Provider& provider, Lock& lock, std::uint32_t seen, std::int64_t timeout_ns);
/// Counts the caller, who holds the lock at the beginning and the end, among those for whom the bell is rung.
class Listening {
 public:
  explicit Listening(Provider& provider) noexcept;
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  ~Listening();
  [[nodiscard]] std::uint32_t rings() const noexcept;

 private:
  Provider& provider_;
};

/// Waits until `holds()`, called with the lock held, is true; whether it is. Polls for a while, then sleeps.
template <class Holds>
[[nodiscard]] bool wait(Provider& provider, Lock& lock, const Deadline& deadline, Holds&& holds) {
  constexpr unsigned spins = 400;
  for (unsigned i = 0; i < spins; ++i) {
    if (holds()) return true;
    if (deadline.is_over()) return false;
    pause(lock);
  }
  const Listening listening(provider);
  for (;;) {
    const std::uint32_t seen = listening.rings();
    if (holds()) return true;
    if (deadline.is_over()) return false;
    sleep(provider, lock, seen, deadline.left_ns());
  }
}

/// Has those who wait in this process look again, and the manager.
void notify(Provider& provider) noexcept;
void wake_manager(Provider& provider) noexcept;
/// Has the handler of the NIC's asynchronous errors called.
void report(Provider& provider, const Vi& vi, VIP_ERROR_CODE code, const SendWork* work = nullptr);

}  // namespace fulmar::vipl
