// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "vipl/provider.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/arch/pause.h"
#include "base/os/futex.h"
#include "vipl/messages.h"
#include "vipl/segments.h"

namespace fulmar::vipl {
namespace {

constexpr const char* registration_variable = "FULMAR_VIPL_REGISTRATION";

/// Of the calling thread.
thread_local bool runs_handlers = false;

/// What the thread for handlers runs.
void call_handlers(Provider& provider) {
  runs_handlers = true;
  Lock lock = locked(provider);
  for (;;) {
    provider.has_calls.wait(lock,
                            [&] { return provider.is_stopping || !provider.jobs.calls.empty(); });
    if (provider.is_stopping) return;
    const Jobs::Call call = std::move(provider.jobs.calls.front());
    provider.jobs.calls.pop_front();
    provider.running = call.nic;
    lock.unlock();
    call.handler();
    lock.lock();
    provider.running = 0;
    notify(provider);
  }
}

sci_callback_action_t on_bell(void* argument, sci_local_interrupt_t, sci_error_t) {
  Provider& provider = *static_cast<Provider*>(argument);
  const Lock lock = locked(provider);
  notify(provider);
  return SCI_CALLBACK_CONTINUE;
}

sci_callback_action_t on_control(void* argument, sci_local_data_interrupt_t, void* data,
                                 unsigned int length, sci_error_t) {
  Provider& provider = *static_cast<Provider*>(argument);
  const Lock lock = locked(provider);
  if (provider.bell != nullptr) on_message(provider, {static_cast<const std::byte*>(data), length});
  return SCI_CALLBACK_CONTINUE;
}

/// False, after a line on stderr, for a word that is none.
bool read_registration(Provider& provider) {
  const char* const word = std::getenv(registration_variable);
  provider.registration = Registration::automatic;
  if (word == nullptr || *word == '\0' || std::strcmp(word, "auto") == 0) return true;
  if (std::strcmp(word, "shadow") == 0) {
    provider.registration = Registration::shadow;
  } else if (std::strcmp(word, "direct") == 0) {
    provider.registration = Registration::direct;
  } else {
    std::fprintf(stderr, "fulmar: VipOpenNic: %s: unknown word '%s'; use auto, shadow or direct\n",
                 registration_variable, word);
    return false;
  }
  return true;
}

void set_address(Provider& provider) noexcept {
  const std::uint32_t node = provider.node;
  provider.address = {0x02,
                      0x46,
                      static_cast<std::uint8_t>(node >> 24),
                      static_cast<std::uint8_t>(node >> 16),
                      static_cast<std::uint8_t>(node >> 8),
                      static_cast<std::uint8_t>(node)};
}

/// The objects by which others reach this process; the bell's segment is the last, because it says that all are there.
bool make_objects(Provider& provider) {
  sci_error_t error = SCI_ERR_OK;
  unsigned int number = wire::vipl_bell_interrupt;
  SCICreateInterrupt(provider.device, &provider.bell_interrupt, 0, &number, on_bell, &provider,
                     SCI_FLAG_USE_CALLBACK | SCI_FLAG_FIXED_INTNO, &error);
  if (error != SCI_ERR_OK) return false;
  number = wire::vipl_control_interrupt;
  SCICreateDataInterrupt(provider.device, &provider.control, 0, &number, on_control, &provider,
                         SCI_FLAG_USE_CALLBACK | SCI_FLAG_FIXED_INTNO, &error);
  if (error != SCI_ERR_OK) return false;
  const Lock lock = locked(provider);
  if (!make_part(provider, provider.bell_part, sizeof(wire::ViplBell), nullptr,
                 wire::vipl_bell_segment)) {
    return false;
  }
  provider.bell = reinterpret_cast<wire::ViplBell*>(provider.bell_part.base);
  return true;
}

void remove_objects(Provider& provider) {
  sci_error_t error = SCI_ERR_OK;
  {
    const Lock lock = locked(provider);
    provider.bell = nullptr;
    remove_part(provider.bell_part);
  }
  if (provider.control != nullptr) SCIRemoveDataInterrupt(provider.control, 0, &error);
  if (provider.bell_interrupt != nullptr) SCIRemoveInterrupt(provider.bell_interrupt, 0, &error);
  provider.control = nullptr;
  provider.bell_interrupt = nullptr;
}

void stop_threads(Provider& provider) {
  {
    const Lock lock = locked(provider);
    provider.is_stopping = true;
    provider.has_calls.notify_all();
    wake_manager(provider);
  }
  if (provider.manager.joinable()) provider.manager.join();
  if (is_in_handler() && provider.caller.joinable())
    provider.caller.detach();  // it has called exit, and never returns
  if (provider.caller.joinable()) provider.caller.join();
}

/// The program has not closed its NICs. What there is is left to the kernel, but the manager must not find SISCI gone.
void stop_at_exit() {
  Provider& provider = the_provider();
  {
    const Lock lock = locked(provider);
    if (provider.bell == nullptr) return;
  }
  stop_threads(provider);
}

}  // namespace

Provider& the_provider() noexcept {
  static auto* const the_one = new Provider;
  return *the_one;
}

bool is_in_handler() noexcept { return runs_handlers; }

void call_later(Provider& provider, std::uint32_t nic, std::function<void()> handler) {
  provider.jobs.calls.push_back({nic, std::move(handler)});
  if (!provider.caller.joinable())
    provider.caller = std::thread([&provider] { call_handlers(provider); });
  provider.has_calls.notify_one();
}

VIP_RETURN open(Provider& provider) {
  sci_error_t error = SCI_ERR_OK;
  if (!read_registration(provider)) return VIP_ERROR_RESOURCE;
  SCIInitialize(0, &error);
  if (error != SCI_ERR_OK) return VIP_ERROR_RESOURCE;
  SCIOpen(&provider.device, 0, &error);
  SCIGetLocalNodeId(0, &provider.node, 0, &error);
  set_address(provider);
  provider.counters = {};
  provider.is_stopping = provider.has_work = provider.uses_transfers = false;
  if (!make_objects(provider)) {
    remove_objects(provider);
    SCIClose(provider.device, 0, &error);
    SCITerminate();
    std::fprintf(stderr, "fulmar: VipOpenNic: no room for the objects of the provider\n");
    return VIP_ERROR_RESOURCE;
  }
  static const int registered = std::atexit(stop_at_exit);  // once, and after SISCI's
  (void)registered;
  provider.manager = std::thread([&provider] { manage(provider); });
  return VIP_SUCCESS;
}

void close(Provider& provider) {
  stop_threads(provider);
  for (Lock lock = locked(provider); provider.waiters != 0;) {
    // They find that their objects are gone.
    notify(provider);
    pause(lock);
  }
  remove_objects(provider);
  remove_peers(provider);
  sci_error_t error = SCI_ERR_OK;
  std::vector<std::unique_ptr<RemoteSegment>> segments;
  {
    const Lock lock = locked(provider);
    for (auto& [key, segment] : provider.remote_segments) segments.push_back(std::move(segment));
    for (auto& segment : provider.jobs.segments) segments.push_back(std::move(segment));
    provider.remote_segments.clear();
    provider.jobs.segments.clear();
    provider.jobs.calls.clear();
    provider.arrived.clear();
  }
  for (auto& segment : segments) {
    while (!disconnect(*segment)) std::this_thread::yield();  // until its transfers have ended
  }
  SCIClose(provider.device, 0, &error);
  provider.device = nullptr;
  SCITerminate();
}

Deadline::Deadline(VIP_ULONG timeout_ms) noexcept
    : is_infinite_(timeout_ms == VIP_INFINITE || timeout_ms > UINT32_MAX),
      is_now_(timeout_ms == 0),
      end_(is_infinite_ || is_now_ ? Clock::time_point()
                                   : Clock::now() + std::chrono::milliseconds(timeout_ms)) {}

bool Deadline::is_over() const noexcept {
  return !is_infinite_ && (is_now_ || Clock::now() >= end_);
}

std::int64_t Deadline::left_ns() const noexcept {
  if (is_infinite_) return -1;
  const auto left =
      std::chrono::duration_cast<std::chrono::nanoseconds>(end_ - Clock::now()).count();
  return left < 0 ? 0 : left;
}

void pause(Lock& lock) noexcept {
  lock.unlock();
  base::arch::pause();
  lock.lock();
}

void give_way(const Provider& provider, Lock& lock) noexcept {
  if (!provider.uses_transfers) return;
  lock.unlock();
  std::this_thread::yield();
}

void sleep(Provider& provider, Lock& lock, std::uint32_t seen, std::int64_t timeout_ns) {
  const wire::ViplBell& bell = *provider.bell;
  lock.unlock();
  base::futex_wait(bell.rings, seen, base::FutexScope::shared, timeout_ns);
  lock.lock();
}

Listening::Listening(Provider& provider) noexcept : provider_(provider) {
  ++provider_.waiters;
  provider_.bell->sleepers.fetch_add(1, std::memory_order_seq_cst);
}
Listening::~Listening() {
  provider_.bell->sleepers.fetch_sub(1, std::memory_order_relaxed);
  --provider_.waiters;
}
std::uint32_t Listening::rings() const noexcept {
  return provider_.bell->rings.load(std::memory_order_seq_cst);
}

namespace {

void ring_own(Provider& provider) noexcept {
  provider.bell->rings.fetch_add(1, std::memory_order_release);
  base::futex_wake(provider.bell->rings, INT32_MAX, base::FutexScope::shared);
}

}  // namespace

void notify(Provider& provider) noexcept {
  if (provider.bell == nullptr) return;  // being closed
  if (provider.bell->sleepers.load(std::memory_order_relaxed) != 0) ring_own(provider);
}

void wake_manager(Provider& provider) noexcept {
  provider.has_work = true;
  if (provider.is_manager_asleep && provider.bell != nullptr) ring_own(provider);
}

void report(Provider& provider, const Vi& vi, VIP_ERROR_CODE code, const SendWork* work) {
  const Nic* const nic = provider.nics.find(vi.nic);
  if (nic == nullptr || nic->error_handler == nullptr) return;
  VIP_ERROR_DESCRIPTOR error{};
  error.NicHandle = pointer_of(vi.nic);
  error.ViHandle = pointer_of(vi.handle);
  error.ResourceCode = work == nullptr ? VIP_RESOURCE_VI : VIP_RESOURCE_DESCRIPTOR;
  error.DescriptorPtr = work == nullptr ? nullptr : work->descriptor;
  error.OpCode = work == nullptr ? 0 : work->operation;
  error.ErrorCode = code;
  call_later(provider, vi.nic, [handler = nic->error_handler, context = nic->error_context, error] {
    VIP_ERROR_DESCRIPTOR copy = error;
    handler(context, &copy);
  });
}

}  // namespace fulmar::vipl
