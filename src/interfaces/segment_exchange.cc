// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "interfaces/segment_exchange.h"

#include <algorithm>
#include <new>

namespace fulmar::interfaces {
namespace {

/// Requests of one peer at a time: a peer that offers more is broken.
constexpr std::ptrdiff_t most_requests = 4096;

}  // namespace

void SegmentExchange::say(std::uint32_t peer, wire::SystemKind kind, std::uint64_t id) noexcept {
  const wire::SegmentIdBody body{id};
  owner_.send(owner_.context, peer, kind, wire::bytes_of(body));
}

bool SegmentExchange::offer(const MappedSegment& segment, std::uint32_t peer,
                            const wire::ProcessName& name, std::uint64_t id) {
  auto offer = device::SegmentOffer::open(segment.mapping, {name});
  if (offer.failed()) return false;
  const wire::SegmentTicketBody body{id, (*offer)->ticket()};
  offers_.push_back({&segment, peer, id, std::move(*offer)});
  owner_.send(owner_.context, peer, wire::SystemKind::ticket, wire::bytes_of(body));
  return true;
}

void SegmentExchange::withdraw(const MappedSegment& segment) noexcept {
  std::erase_if(offers_, [&](const Offer& each) { return each.segment == &segment; });
}

void SegmentExchange::forget(std::uint32_t peer) noexcept {
  std::erase_if(offers_, [&](const Offer& each) { return each.peer == peer; });
  std::vector<std::uint64_t> ids;
  std::erase_if(requests_, [&](const Request& each) {
    if (each.peer != peer) return false;
    ids.push_back(each.id);
    return true;
  });
  for (const std::uint64_t id : ids) owner_.mapped(owner_.context, peer, id, nullptr);
}

void SegmentExchange::on_ticket(std::uint32_t peer, const wire::SegmentTicketBody& body) noexcept {
  const auto under_way =
      std::ranges::count_if(requests_, [&](const Request& each) { return each.peer == peer; });
  if (body.ticket.bytes == 0 || under_way >= most_requests) {
    return owner_.mapped(owner_.context, peer, body.id, nullptr);
  }
  requests_.push_back({peer, body.id, device::SegmentRequest(body.ticket, self_)});
  (void)step();
}

void SegmentExchange::on_asked(std::uint32_t peer, const wire::SegmentIdBody& body) noexcept {
  const auto place = std::ranges::find_if(
      offers_, [&](const Offer& each) { return each.peer == peer && each.id == body.id; });
  // Of an offer that was withdrawn the peer finds the socket closed.
  if (place != offers_.end()) {
    (void)place->offer->serve();
    offers_.erase(place);
  }
  say(peer, wire::SystemKind::granted, body.id);
}

void SegmentExchange::on_granted(std::uint32_t peer, const wire::SegmentIdBody& body) noexcept {
  for (Request& each : requests_) {
    if (each.peer == peer && each.id == body.id && each.has_asked) each.granted = true;
  }
  (void)step();
}

/// Asks, or takes what was granted. `over`: the owner has been told.
SegmentExchange::Step SegmentExchange::advance(Request& request) noexcept {
  if (!request.has_asked) {
    const auto asked = request.request.ask();
    if (asked.ok() && !asked.value()) return Step::waits;
    request.has_asked = asked.ok();
    if (asked.ok()) say(request.peer, wire::SystemKind::asked, request.id);
    return asked.ok() ? Step::moved : Step::over;
  }
  return request.granted ? Step::over : Step::waits;
}

unsigned SegmentExchange::step() noexcept {
  unsigned moved = 0;
  for (std::size_t at = 0; at < requests_.size();) {
    const Step what = advance(requests_[at]);
    moved += what == Step::waits ? 0 : 1;
    if (what != Step::over) {
      ++at;
      continue;
    }
    Request request = std::move(requests_[at]);
    requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(at));
    Segment* segment = nullptr;
    if (request.granted) {
      // The file was in the socket before the word that it is.
      auto taken = request.request.take();
      if (taken.ok() && taken->has_value()) {
        segment = new (std::nothrow) MappedSegment(std::move(**taken));
      }
    }
    owner_.mapped(owner_.context, request.peer, request.id, segment);
  }
  return moved;
}

}  // namespace fulmar::interfaces
