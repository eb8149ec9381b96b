// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/device.h"

/// How the parts of a device are put together: each gets references to those that it uses, and functions for what it
/// needs of the face.
namespace fulmar::device {

Device::Device(const Config& config, base::EngineLock& lock) noexcept
    : config_(config),
      lock_(lock),
      processes_(config.processes != nullptr
                     ? config.processes
                     : std::make_shared<fabric::ProcessTable>(wire::ProcessName{1, config.self, 0},
                                                              config.size)),
      waiting_(
          {config_, lock_, transports_, stats_, progress_, outbox_, active_, cancelling_, failures_,
           service_},
          {this, [](void* device,
                    Look look) noexcept { return static_cast<Device*>(device)->progress(look); }}),
      outbox_(
          transports_, peers_, config.trace,
          {this,
           [](void* device, Operation& send) noexcept {
             return static_cast<Device*>(device)->post_message(send);
           },
           [](void* device) noexcept { static_cast<Device*>(device)->waiting_.wake_service(); }}),
      flow_({config_, outbox_, peers_, matcher_, arrivals_, stats_}, handlers_,
            {this,
             [](void* device, Operation& send, bool early) noexcept {
               return static_cast<Device*>(device)->announce(send, early);
             },
             [](void* device) noexcept {
               static_cast<Device*>(device)->failures_.update_receive_checks();
             }}),
      copy_choice_(config.long_copy),
      active_({&waiting_,
               [](void* waiting) noexcept { static_cast<Waiting*>(waiting)->wake_service(); }}),
      rdma_memory_({config_, transports_, completions_, stats_}),
      operations_({waiting_, stats_, rdma_memory_, completions_, heads_},
                  {&cancelling_,
                   [](void* cancelling, Operation& send) noexcept {
                     static_cast<Cancelling*>(cancelling)->drop_request(send);
                   }}),
      stream_({config_, transports_, peers_, handlers_, outbox_, stats_, completions_, active_,
               rdma_memory_, operations_, copy_choice_, heads_}),
      copy_({config_, transports_, outbox_, stats_, active_, rdma_memory_, operations_,
             copy_choice_, heads_, stream_}),
      rdma_({config_, transports_, outbox_, stats_, active_, rdma_memory_, operations_, stream_}),
      protocols_({transports_, active_, operations_, failures_, stream_, copy_, rdma_}),
      placement_({peers_, handlers_, matcher_, stats_, operations_, stream_}),
      early_({matcher_, callbacks_, waiting_},
             {this,
              [](void* device, Operation& receive, Arrival& arrival) noexcept {
                static_cast<Device*>(device)->receive_arrival(receive, arrival);
              }}),
      cancelling_({config_, transports_, matcher_, arrivals_, peers_, outbox_, flow_, early_,
                   operations_, callbacks_, progress_, waiting_}),
      alarm_bytes_(config.unexpected_budget_bytes) {
  peers_.grow(processes_->size());
  stats_.packet_look().on = config.trace != nullptr;
  peers_.set_traced(config.trace != nullptr);
  add_handlers();
}

Device::~Device() {
  while (match::Unexpected* left = matcher_.oldest_unexpected()) {
    matcher_.remove(*left);
    arrivals_.free(Arrival::of(left));
  }
}

void Device::add_handlers() noexcept {
  handlers_.add<&Device::on_eager>(wire::PacketKind::eager, *this);
  handlers_.add<&Device::on_eager_sync>(wire::PacketKind::eager_sync, *this);
  handlers_.add<&Device::on_sync_ack>(wire::PacketKind::sync_ack, *this);
  handlers_.add<&Device::on_announcement>(wire::PacketKind::rts, *this);
  handlers_.add<&Device::on_fin>(wire::PacketKind::fin, *this);
  handlers_.add<&RndvCopy::on_clear_to_share>(wire::PacketKind::cts_shared, copy_);
  handlers_.add<&RndvStream::on_clear_to_stream>(wire::PacketKind::cts_stream, stream_);
  handlers_.add<&RndvStream::on_data>(wire::PacketKind::data, stream_);
  handlers_.add<&RndvRdma::on_clear_to_put>(wire::PacketKind::cts_put, rdma_);
  handlers_.add<&RndvRdma::on_no_put>(wire::PacketKind::no_put, rdma_);
  handlers_.add<&EarlyArrivals::on_settled>(wire::PacketKind::settled, early_);
  handlers_.add<&Cancelling::on_cancel>(wire::PacketKind::cancel, cancelling_);
  handlers_.add<&Cancelling::on_cancel_reply>(wire::PacketKind::cancel_reply, cancelling_);
  handlers_.add<&Failures::on_report>(wire::PacketKind::peer_failed, failures_);
  handlers_.add<&Failures::on_probe>(wire::PacketKind::probe, failures_);
}

/// The three tables change together: the lock is held.
std::optional<std::uint32_t> Device::add_job(std::uint32_t job, std::uint32_t size,
                                             const base::Key& key) {
  const auto first = processes_->add_job(job, size, key);
  if (!first) return first;
  peers_.grow(processes_->size());
  if (fabric::Network* const network = transports_.network(); network != nullptr) {
    network->grow(processes_->size());
  }
  return first;
}

/// Sends that were cancelled may have been the only ones.
bool Device::has_sent_to(std::uint32_t id) const noexcept {
  const Peer* const peer = peers_.find(id);
  return peer != nullptr && !peer->has_cancelled;
}

void Device::forget_hold(std::uint32_t rank) noexcept {
  Peer* const peer = peers_.find(rank);
  if (peer == nullptr) return;
  cancelling_.give_up(*peer);
  flow_.forget_hold(*peer);
}

void Device::forget_own_hold(std::uint32_t rank) noexcept {
  if (Peer* const peer = peers_.find(rank)) flow_.forget_own_hold(*peer);
}

}  // namespace fulmar::device
