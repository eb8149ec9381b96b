// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/regcache/registrations.h"

#include <iterator>

namespace fulmar::device {

using base::AddressRange;
using base::ErrorClass;
using base::MemoryWatch;
using fabric::Access;

namespace {

std::span<std::byte> memory_of(const AddressRange& range) noexcept {
  return {reinterpret_cast<std::byte*>(range.begin), range.bytes()};
}

/// How many bytes the adapter pins for it.
std::size_t pinned_bytes(const AddressRange& range) noexcept {
  return base::whole_pages(range).bytes();
}

}  // namespace

Registrations::Registrations(Registrar& registrar, MemoryWatch* watch, const Budget& budget)
    : registrar_(registrar), watch_(watch), budget_(budget) {
  if (watch_ != nullptr) watch_->add(*this);
}

Registrations::~Registrations() {
  while (!unused_.empty()) close(unused_, unused_.back());
  while (!used_.empty()) close(used_, used_.back());
  if (watch_ != nullptr) watch_->remove(*this);
}

base::Result<Registration*> Registrations::take(std::span<std::byte> memory, Access access,
                                                Holds holds) {
  const MemoryWatch::Settled settled = settle();
  const AddressRange wanted = base::range_of(memory);
  Registration* const found = reuse(wanted, access, settled);
  if (found != nullptr) return found;
  return open(wanted, access, plan(wanted, access, holds, settled));
}

Registration* Registrations::take_kept(std::span<std::byte> memory, Access access) {
  const MemoryWatch::Settled settled = settle();
  return reuse(base::range_of(memory), access, settled);
}

MemoryWatch::Settled Registrations::settle() noexcept {
  return watch_ == nullptr ? MemoryWatch::Settled::yes : watch_->settle();
}

Registration* Registrations::reuse(const AddressRange& wanted, Access access,
                                   MemoryWatch::Settled settled) {
  Registration* const found = find(wanted, access);
  const bool is_true = found != nullptr && (settled == MemoryWatch::Settled::yes ||
                                            found->kept_ == Registration::Kept::owned);
  if (!is_true) return nullptr;
  ++figures_.hits;
  if (found->users_++ == 0) {
    used_.splice(used_.begin(), unused_, found->place_);
    unused_bytes_ -= pinned_bytes(found->range_);
  }
  return found;
}

void Registrations::give_back(Registration& registration) {
  if (--registration.users_ != 0) return;
  if (!registration.is_listed_) {
    close(used_, registration);
    return;
  }
  unused_.splice(unused_.begin(), used_, registration.place_);
  unused_bytes_ += pinned_bytes(registration.range_);
}

void Registrations::own(std::span<std::byte> block) {
  const AddressRange range = base::range_of(block);
  if (!range.empty()) owned_[range.begin] = range.end;
}

void Registrations::disown(const std::byte* begin) {
  const auto found = owned_.find(reinterpret_cast<std::uintptr_t>(begin));
  if (found == owned_.end()) return;
  const AddressRange block{found->first, found->second};
  owned_.erase(found);
  for (Index& index : indexes_) {
    unlist(index, block, [&](const Registration& each) {
      return each.kept_ == Registration::Kept::owned && block.contains(each.range_);
    });
  }
}

void Registrations::set_budget(const Budget& budget) {
  budget_ = budget;
  make_room(0);
}

void Registrations::memory_changed(const AddressRange& range) noexcept {
  for (Index& index : indexes_) {
    unlist(index, range,
           [](const Registration& each) { return each.kept_ == Registration::Kept::watched; });
  }
}

Registration* Registrations::find(const AddressRange& wanted, Access access) noexcept {
  Registration* const found = find_in(index(access), wanted);
  if (found != nullptr || access != Access::local) return found;
  return find_in(index(Access::peers_write), wanted);
}

Registration* Registrations::find_in(const Index& index, const AddressRange& wanted) noexcept {
  const auto behind = index.upper_bound(wanted.begin);
  if (behind == index.begin()) return nullptr;
  Registration* const last = std::prev(behind)->second;
  return last->range_.end >= wanted.end ? last : nullptr;
}

/// The range to register, and whether it can be kept; a `watched` one is watched from now on.
Registrations::Plan Registrations::plan(const AddressRange& wanted, Access access, Holds holds,
                                        MemoryWatch::Settled settled) {
  const Plan for_once{wanted, Registration::Kept::not_kept};
  const auto behind = owned_.upper_bound(wanted.begin);
  if (behind != owned_.begin()) {
    const AddressRange block{std::prev(behind)->first, std::prev(behind)->second};
    if (block.contains(wanted)) {
      if (may_fit(pinned_bytes(block))) return {block, Registration::Kept::owned};
      return may_fit(pinned_bytes(wanted)) ? Plan{wanted, Registration::Kept::owned} : for_once;
    }
  }
  const bool can_be_watched =
      watch_ != nullptr && holds == Holds::all && settled == MemoryWatch::Settled::yes;
  if (!can_be_watched) return for_once;
  const AddressRange pages = base::whole_pages(wanted);
  if (!may_fit(pages.bytes()) || watch_->watch(pages).failed()) return for_once;
  return {access == Access::local ? pages : wanted, Registration::Kept::watched};
}

base::Result<Registration*> Registrations::open(const AddressRange& wanted, Access access,
                                                Plan plan) {
  // A larger region that cannot be used just now: it stays, since no region is inside another.
  if (plan.kept == Registration::Kept::owned && find_in(index(access), plan.range) != nullptr) {
    plan.kept = Registration::Kept::not_kept;
  }
  if (plan.kept != Registration::Kept::not_kept) make_room(pinned_bytes(plan.range));
  auto opened = open_evicting(plan.range, access);
  if (opened.failed() && plan.kept == Registration::Kept::owned && plan.range != wanted) {
    plan = {wanted, Registration::Kept::not_kept};
    opened = open_evicting(plan.range, access);
  }
  if (opened.failed()) {
    if (plan.kept == Registration::Kept::watched) watch_->unwatch(base::whole_pages(plan.range));
    return opened.error();
  }
  Registration& made = used_.emplace_front();
  made.opened_ = *opened;
  made.range_ = plan.range;
  made.access_ = access;
  made.kept_ = plan.kept;
  made.users_ = 1;
  made.place_ = used_.begin();
  ++figures_.opened;
  ++figures_.regions;
  figures_.bytes += pinned_bytes(made.range_);
  if (plan.kept == Registration::Kept::not_kept) {
    ++figures_.not_kept;
  } else {
    list(made);
  }
  return &made;
}

base::Result<fabric::MemoryRegion> Registrations::open_evicting(const AddressRange& range,
                                                                Access access) {
  for (std::size_t batch = 1;; batch *= 2) {
    auto opened = registrar_.open(memory_of(range), access);
    const bool lacks_room = opened.failed() && opened.error().error_class() == ErrorClass::no_mem;
    if (!lacks_room || unused_.empty()) return opened;
    for (std::size_t i = 0; i < batch && !unused_.empty(); ++i) evict_oldest();
  }
}

/// Adds it to its index, after removing the regions inside it.
void Registrations::list(Registration& registration) {
  const AddressRange& range = registration.range_;
  const auto replace = [&](Index& index, const auto& may_go) {
    unlist(index, range,
           [&](const Registration& each) { return range.contains(each.range_) && may_go(each); });
  };
  replace(index(registration.access_), [](const Registration&) { return true; });
  if (registration.access_ == Access::peers_write) {
    replace(index(Access::local), [](const Registration& each) { return each.users_ == 0; });
  }
  index(registration.access_).emplace(range.begin, &registration);
  registration.is_listed_ = true;
}

/// Takes the regions that overlap `range` and are chosen out of the index, and closes the unused.
template <class Choose>
void Registrations::unlist(Index& index, const AddressRange& range, Choose&& choose) {
  auto behind = index.lower_bound(range.end);
  while (behind != index.begin()) {
    const auto place = std::prev(behind);
    Registration& each = *place->second;
    if (each.range_.end <= range.begin) return;
    if (!choose(each)) {
      behind = place;
      continue;
    }
    behind = index.erase(place);
    each.is_listed_ = false;
    ++figures_.unlisted;
    if (each.users_ == 0) close(unused_, each);
  }
}

/// Whether `bytes` more bytes fit when all unused regions are closed.
bool Registrations::may_fit(std::size_t bytes) const noexcept {
  return figures_.bytes - unused_bytes_ + bytes <= budget_.bytes && used_.size() < budget_.regions;
}

void Registrations::make_room(std::size_t bytes) {
  while (!unused_.empty() &&
         (figures_.bytes + bytes > budget_.bytes || figures_.regions >= budget_.regions)) {
    evict_oldest();
  }
}

/// Requires that something is unused.
void Registrations::evict_oldest() {
  Registration& oldest = unused_.back();
  index(oldest.access_).erase(oldest.range_.begin);
  ++figures_.evicted;
  close(unused_, oldest);
}

void Registrations::close(List& list, Registration& registration) {
  registrar_.close(registration.opened_);
  const std::size_t bytes = pinned_bytes(registration.range_);
  if (registration.kept_ == Registration::Kept::watched) {
    watch_->unwatch(base::whole_pages(registration.range_));
  }
  --figures_.regions;
  figures_.bytes -= bytes;
  if (&list == &unused_) unused_bytes_ -= bytes;
  list.erase(registration.place_);
}

}  // namespace fulmar::device
