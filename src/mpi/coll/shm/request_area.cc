// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/shm/request_area.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <optional>
#include <vector>

#include "mpi/coll/check/count_check.h"
#include "mpi/coll/shm/shm_coll.h"

namespace fulmar::mpi {

using device::ShmCollArea;
using device::ShmCollAreaPool;

namespace {

/// What a rank posts.
struct AreaOffer {
  std::uint64_t free_areas;    ///< bits
  std::uint64_t newest_round;  ///< on any collective area of the process
  AreaWish wish;
  std::uint32_t reserved;
};
static_assert(sizeof(AreaOffer) == 24 && sizeof(AreaOffer) <= wire::coll_slot_bytes);

constexpr std::uint64_t staged_areas = (std::uint64_t{1} << wire::staging_buffers_per_area) - 1;

/// The communicator's own area if its members agree on those of requests, and earlier calls on it
/// are over.
ShmCollArea* area_for_offers(Comm& comm) noexcept {
  return compares_counts(comm) ? nullptr : idle_area(comm, comm.coll_area.get());
}

void post_offer(ShmCollArea& own, const AreaOffer& offer) noexcept {
  own.post({sizeof offer, sizeof offer},
           [&](std::byte* to, base::StoreKind) { std::memcpy(to, &offer, sizeof offer); });
}

/// The offers of all members as one.
AreaOffer combined_offer(const ShmCollArea& own, const AreaOffer& mine) noexcept {
  AreaOffer all = mine;
  for (int member = 0; member < own.size(); ++member) {
    AreaOffer one;
    if (!own.has_length(member, sizeof one)) return {0, 0, AreaWish::none, 0};  // of another call
    std::memcpy(&one, own.payload(member, sizeof one), sizeof one);
    all.free_areas &= one.free_areas;
    all.newest_round = std::max(all.newest_round, one.newest_round);
    all.wish = std::max(all.wish, one.wish);
  }
  return all;
}

std::optional<std::uint32_t> choose_area(const AreaOffer& all) noexcept {
  const std::uint64_t staged = all.free_areas & staged_areas;
  const std::uint64_t plain = all.free_areas & ~staged_areas;
  const auto first_of = [](std::uint64_t areas) {
    return static_cast<std::uint32_t>(std::countr_zero(areas));
  };
  const bool wants_staged = all.wish == AreaWish::rather_staged || all.wish == AreaWish::staged;
  const bool takes_plain = all.wish == AreaWish::rather_staged || all.wish == AreaWish::any;
  if (wants_staged && std::popcount(staged) > RequestArea::spare_staged) return first_of(staged);
  if (takes_plain && std::popcount(plain) > RequestArea::spare_plain) return first_of(plain);
  return std::nullopt;
}

std::unique_ptr<ShmCollArea> take_area(Comm& comm, std::uint32_t index, std::uint64_t round) {
  std::vector<std::uint32_t> peers;
  for (int rank = 0; rank < comm.size(); ++rank) peers.push_back(comm.routes[rank].peer);
  std::unique_ptr<ShmCollArea> area = comm.device->make_coll_area(index, peers, comm.rank, round);
  if (area != nullptr) comm.device->coll_areas().take(index);
  return area;
}

}  // namespace

std::unique_ptr<RequestArea> RequestArea::agree(Comm& comm, AreaWish wish) {
  ShmCollArea* const own = area_for_offers(comm);
  if (own == nullptr) return nullptr;
  if (wish == AreaWish::none) {
    post_offer(*own, {0, 0, AreaWish::none, 0});
    return nullptr;
  }
  ShmCollAreaPool& pool = comm.device->coll_areas();
  const std::uint64_t free_areas = pool.offer();
  const AreaOffer mine{free_areas, pool.newest_round(), wish, 0};
  post_offer(*own, mine);
  std::unique_ptr<ShmCollArea> area;
  if (own->wait_all()) {
    const AreaOffer all = combined_offer(*own, mine);
    const std::optional<std::uint32_t> index = choose_area(all);
    if (index) area = take_area(comm, *index, all.newest_round);
  }
  if (free_areas != 0) pool.settle();
  return area == nullptr ? nullptr : std::make_unique<RequestArea>(comm, std::move(area));
}

void RequestArea::decline(Comm& comm) noexcept {
  ShmCollArea* const own = area_for_offers(comm);
  if (own != nullptr) post_offer(*own, {0, 0, AreaWish::none, 0});
}

RequestArea::RequestArea(Comm& comm, std::unique_ptr<ShmCollArea> coll_area)
    : comm_(comm), area_(std::move(coll_area)) {
  comm.library->schedules->area_queues().list(comm, *area_);
}

RequestArea::~RequestArea() {
  comm_.library->schedules->area_queues().unlist(*area_);
  comm_.device->coll_areas().give_back(*area_);
}

}  // namespace fulmar::mpi
