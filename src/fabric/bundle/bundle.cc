// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/bundle/bundle.h"

#include <utility>

#include "fabric/bundle/pairs.h"
#include "fabric/network_names.h"

namespace fulmar::fabric {

base::Result<std::unique_ptr<Bundle>> Bundle::open(const bundle::Config& config) {
  auto pairs = bundle::Pairs::open(config);
  if (pairs.failed()) return pairs.error();
  return std::unique_ptr<Bundle>(new Bundle(config, std::move(*pairs)));
}

Bundle::Bundle(const bundle::Config& config, std::unique_ptr<bundle::Pairs> pairs)
    : Network(network_names::rails, {.body_bytes = max_body_bytes,
                                     .prefix_bytes = max_prefix_bytes,
                                     .pieces = max_pieces,
                                     .in_place_bytes = max_in_place_bytes,
                                     .limits_by_peer = true,
                                     .holds_packets = true}),
      pairs_(std::move(pairs)),
      self_(config.processes->self()) {}

Bundle::~Bundle() = default;

bundle::RailOwner& Bundle::next_owner() noexcept { return pairs_->next_owner(); }

base::Error Bundle::add(std::unique_ptr<Network> rail, std::string label, double bytes_per_second) {
  return pairs_->add(std::move(rail), std::move(label), bytes_per_second);
}

base::Result<std::vector<std::byte>> Bundle::address() const { return pairs_->address(); }

std::uint32_t Bundle::size() const noexcept { return pairs_->size(); }
void Bundle::grow(std::uint32_t size) { pairs_->grow(size); }

bool Bundle::alive(std::uint32_t peer) const noexcept { return pairs_->alive(peer); }
bool Bundle::gone(std::uint32_t peer) const noexcept { return pairs_->gone(peer); }

std::size_t Bundle::body_limit_of(std::uint32_t peer) { return pairs_->body_limit(peer); }

std::size_t Bundle::in_place_limit_of(std::uint32_t peer) { return pairs_->in_place_limit(peer); }

Post Bundle::post(std::uint32_t peer, const wire::Envelope& envelope,
                  std::span<const std::byte> body) {
  return pairs_->post(peer, envelope, body);
}

Post Bundle::post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                           std::span<const std::byte> prefix, std::span<const iovec> pieces,
                           std::uint64_t token) {
  return pairs_->post_in_place(peer, envelope, prefix, pieces, token);
}

unsigned Bundle::poll(SinkRef sink) { return pairs_->poll(sink); }

bool Bundle::has_unsent() const noexcept { return pairs_->has_unsent(); }

void Bundle::flush() { pairs_->flush(); }

int Bundle::descriptor() const noexcept { return pairs_->descriptor(); }

bool Bundle::arm() { return pairs_->arm(); }

std::int64_t Bundle::next_deadline_ns() const noexcept { return pairs_->next_deadline_ns(); }

void Bundle::leave(Leaving how) { pairs_->leave(how); }

bool Bundle::quiesced() const noexcept { return pairs_->quiesced(); }

void Bundle::end() noexcept { pairs_->end(); }

void Bundle::close() noexcept { pairs_->close(); }

base::Error Bundle::resume() {
  if (pairs_->returns()) return pairs_->resume();
  return base::failure(
      base::ErrorClass::other,
      "MPI was left, and networks that are used together can be entered again only if all are tcp "
      "or verbs. Open a session before the last MPI_Finalize or MPI_Session_finalize, or set "
      "FULMAR_RAILS=off, or to a list of these");
}

std::vector<std::uint32_t> Bundle::known_peers() const { return pairs_->known_peers(); }

const char* Bundle::name_of(std::uint32_t peer) const noexcept { return pairs_->name_of(peer); }

std::string Bundle::text_of(std::uint32_t peer) const { return pairs_->text_of(peer); }

}  // namespace fulmar::fabric
