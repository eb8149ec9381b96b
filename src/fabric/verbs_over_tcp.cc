// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/verbs_over_tcp.h"

#include <utility>
#include <vector>

#include "base/os/fd.h"

namespace fulmar::fabric {
namespace {

class TcpOobConnector final : public verbs::OobConnector {
 public:
  explicit TcpOobConnector(std::unique_ptr<tcp::Connector> connector)
      : connector_(std::move(connector)) {}

  [[nodiscard]] std::vector<std::byte> address() const override { return connector_->address(); }
  void connect(std::uint32_t peer, std::span<const std::byte> address) override {
    connector_->connect(peer, address, 1);
  }
  void forget(std::uint32_t peer) noexcept override { connector_->readmit(peer); }
  void forget_all() noexcept override { connector_->forget_all(); }
  void step(std::vector<Event>& events) override {
    connector_->step(events_);
    for (const tcp::Connector::Event& event : events_) {
      if (event.lane != 0) {
        base::UniqueFd(event.socket).reset();  // a peer that opens more than it was asked for
      } else {
        events.push_back({event.peer, event.socket, event.error});
      }
    }
    events_.clear();
  }
  [[nodiscard]] int descriptor() const noexcept override { return connector_->descriptor(); }
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept override {
    return connector_->next_deadline_ns();
  }

 private:
  std::unique_ptr<tcp::Connector> connector_;
  std::vector<tcp::Connector::Event> events_;
};

}  // namespace

base::Result<std::unique_ptr<verbs::OobConnector>> connect_over_tcp(
    const tcp::Connector::Config& config) {
  auto connector = tcp::Connector::open(config);
  if (connector.failed()) return connector.error();
  return std::unique_ptr<verbs::OobConnector>(
      std::make_unique<TcpOobConnector>(std::move(connector.value())));
}

}  // namespace fulmar::fabric
