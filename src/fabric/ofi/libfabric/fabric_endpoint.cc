// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/ofi/libfabric/fabric_endpoint.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <algorithm>
#include <array>

namespace fulmar::fabric::ofi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

static_assert(sizeof(fi_context2) <= sizeof(Ticket::reserved));

/// Events that wait to be read; libfabric holds transfers back when there is no room.
constexpr std::size_t queue_entries = 8192;
constexpr std::size_t most_events_at_once = 16;
constexpr std::size_t most_sent_pieces = 16;

}  // namespace

base::Result<std::unique_ptr<Endpoint>> FabricEndpoint::open(const Library& library, InfoList info,
                                                             const Wish& wish) {
  std::unique_ptr<FabricEndpoint> endpoint(new FabricEndpoint(library, std::move(info)));
  if (const Error error = endpoint->prepare(wish); error.failed()) return error;
  return std::unique_ptr<Endpoint>(std::move(endpoint));
}

Error FabricEndpoint::failed(const char* call, int result) const {
  return failure(ErrorClass::other,
                 "libfabric's %s of the provider %s on %s fails: %s; FULMAR_OFI_PROVIDER chooses "
                 "another one, FULMAR_FABRIC another network",
                 call, can_.provider.c_str(), can_.domain.c_str(), library_.strerror(-result));
}

void FabricEndpoint::learn() {
  const fi_info& info = *info_.first();
  const auto has = [](std::uint64_t bits, std::uint64_t bit) { return (bits & bit) == bit; };
  can_.provider = info.fabric_attr->prov_name;
  can_.domain = info.domain_attr->name;
  can_.address_format = info.addr_format;
  const bool is_socket = info.addr_format == FI_SOCKADDR || info.addr_format == FI_SOCKADDR_IN ||
                         info.addr_format == FI_SOCKADDR_IN6;
  can_.listens_on_tcp = is_socket && listens_on_tcp(info.fabric_attr->prov_name);
  can_.inject_bytes = info.tx_attr->inject_size;
  can_.most_message_bytes = info.ep_attr->max_msg_size;
  can_.most_pieces = std::clamp<std::size_t>(info.tx_attr->iov_limit, 1, most_sent_pieces);
  can_.receive_depth = std::max<std::size_t>(info.rx_attr->size, 1);
  // Messages that arrive in order may still complete in another one: long ones are fetched while
  // short ones behind them are there.
  can_.ordered = has(info.tx_attr->msg_order, FI_ORDER_SAS) &&
                 has(info.rx_attr->msg_order, FI_ORDER_SAS) &&
                 has(info.rx_attr->comp_order, FI_ORDER_STRICT);
  can_.shares_buffers = has(info.caps, FI_MULTI_RECV);
  can_.registers_memory = has(static_cast<std::uint64_t>(info.domain_attr->mr_mode), FI_MR_LOCAL);
  can_.send_depth = std::max<std::size_t>(info.tx_attr->size, 1);
  can_.moves_remotely =
      has(info.caps, FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE) &&
      has(info.tx_attr->op_flags, FI_DELIVERY_COMPLETE);
  // Asked for to learn whether it can be had; packets need no such end.
  info.tx_attr->op_flags &= ~FI_DELIVERY_COMPLETE;
}

Error FabricEndpoint::prepare(const Wish& wish) {
  learn();
  fi_info& info = *info_.first();
  if (const int r = library_.fabric(info.fabric_attr, fabric_.out(), nullptr); r != 0) {
    return failed("fi_fabric", r);
  }
  if (const int r = ::fi_domain(fabric_.get(), &info, domain_.out(), nullptr); r != 0) {
    return failed("fi_domain", r);
  }
  if (const Error error = open_queue(); error.failed()) return error;
  fi_av_attr addresses{};
  addresses.type = FI_AV_UNSPEC;
  addresses.count = wish.peers;
  if (const int r = ::fi_av_open(domain_.get(), &addresses, addresses_.out(), nullptr); r != 0) {
    return failed("fi_av_open", r);
  }
  if (const int r = ::fi_endpoint(domain_.get(), &info, endpoint_.out(), nullptr); r != 0) {
    return failed("fi_endpoint", r);
  }
  return start(wish);
}

/// With a descriptor to sleep on where the provider has one.
Error FabricEndpoint::open_queue() {
  fi_cq_attr attributes{};
  attributes.size = queue_entries;
  attributes.format = FI_CQ_FORMAT_DATA;
  attributes.wait_obj = FI_WAIT_FD;
  int result = ::fi_cq_open(domain_.get(), &attributes, queue_.out(), nullptr);
  if (result == 0) {
    can_.sleeps = ::fi_control(&queue_->fid, FI_GETWAIT, &descriptor_) == 0 && descriptor_ >= 0;
    if (!can_.sleeps) descriptor_ = -1;
    return {};
  }
  attributes.wait_obj = FI_WAIT_NONE;
  result = ::fi_cq_open(domain_.get(), &attributes, queue_.out(), nullptr);
  return result == 0 ? Error{} : failed("fi_cq_open", result);
}

Error FabricEndpoint::start(const Wish& wish) {
  if (const int r = ::fi_ep_bind(endpoint_.get(), &queue_->fid, FI_TRANSMIT | FI_RECV); r != 0) {
    return failed("fi_ep_bind", r);
  }
  if (const int r = ::fi_ep_bind(endpoint_.get(), &addresses_->fid, 0); r != 0) {
    return failed("fi_ep_bind", r);
  }
  if (can_.shares_buffers) {
    const std::size_t smallest = wish.longest_message;
    can_.shares_buffers = ::fi_setopt(&endpoint_->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV,
                                      &smallest, sizeof smallest) == 0;
  }
  if (const int r = ::fi_enable(endpoint_.get()); r != 0) return failed("fi_enable", r);
  std::array<std::byte, 1024> name;
  std::size_t bytes = name.size();
  if (const int r = ::fi_getname(&endpoint_->fid, name.data(), &bytes); r != 0) {
    return failed("fi_getname", r);
  }
  learn_changes();
  opened_.use(library_, info_, domain_.get(), endpoint_.get());
  name_.assign(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(bytes));
  return {};
}

/// The capabilities are known once the endpoint is enabled. If a provider is layered over one that only sends
/// messages (ofi_rxm), software of the peer performs atomics.
void FabricEndpoint::learn_changes() {
  const fi_info& info = *info_.first();
  std::size_t sums = 0;
  std::size_t swaps = 0;
  const bool can =
      can_.moves_remotely && (info.caps & FI_ATOMIC) != 0 &&
      ::fi_fetch_atomicvalid(endpoint_.get(), FI_UINT64, FI_SUM, &sums) == 0 && sums != 0 &&
      ::fi_compare_atomicvalid(endpoint_.get(), FI_UINT64, FI_CSWAP, &swaps) == 0 && swaps != 0;
  if (!can) return;
  const bool layered = can_.provider.find(';') != std::string::npos;
  can_.atomics = needs_hardware(can_.provider.c_str()) && !layered ? Network::Changes::by_adapter
                                                                   : Network::Changes::by_peer;
}

base::Result<std::uint64_t> FabricEndpoint::insert(std::span<const std::byte> name) {
  // The library reads as many bytes as names of this provider have.
  if (name.size() != name_.size()) {
    return failure(ErrorClass::other,
                   "a name of %zu bytes is none of the provider %s, where names have %zu; use the "
                   "same version of libfabric on all hosts",
                   name.size(), can_.provider.c_str(), name_.size());
  }
  fi_addr_t number = FI_ADDR_NOTAVAIL;
  const int inserted = ::fi_av_insert(addresses_.get(), name.data(), 1, &number, 0, nullptr);
  if (inserted == 1 && number != FI_ADDR_NOTAVAIL) return std::uint64_t{number};
  return failed("fi_av_insert", inserted < 0 ? inserted : -FI_EINVAL);
}

std::string FabricEndpoint::text_of(std::span<const std::byte> name) const {
  if (name.size() != name_.size()) return "an unknown address";
  std::array<char, 256> text{};
  std::size_t bytes = text.size() - 1;
  const char* const made = ::fi_av_straddr(addresses_.get(), name.data(), text.data(), &bytes);
  return made == nullptr ? "an address without a name" : made;
}

base::Result<void*> FabricEndpoint::enlist(std::span<std::byte> memory) {
  if (!can_.registers_memory) return static_cast<void*>(nullptr);
  Owned<fid_mr> region;
  // The number is a key that is never sent; it only has to be unique.
  int result = ::fi_mr_reg(domain_.get(), memory.data(), memory.size(), FI_SEND | FI_RECV, 0,
                           regions_.size() + 1, 0, region.out(), nullptr);
  if (result == 0 && (info_.first()->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0) {
    result = ::fi_mr_bind(region.get(), &endpoint_->fid, 0);
    if (result == 0) result = ::fi_mr_enable(region.get());
  }
  if (result != 0) {
    return failure(ErrorClass::no_mem,
                   "libfabric's provider %s cannot register %zu bytes (%s); raise the limit on "
                   "locked memory (ulimit -l)",
                   can_.provider.c_str(), memory.size(), library_.strerror(-result));
  }
  regions_.push_back(std::move(region));
  return ::fi_mr_desc(regions_.back().get());
}

PostResult FabricEndpoint::outcome(ssize_t result, const char* call) {
  if (result == 0) return PostResult::yes;
  if (result == -FI_EAGAIN) return PostResult::later;
  last_error_ = std::string(call) + ": " + library_.strerror(static_cast<int>(-result));
  return PostResult::failed;
}

PostResult FabricEndpoint::inject(std::uint64_t to, std::span<const std::byte> bytes) {
  return outcome(::fi_inject(endpoint_.get(), bytes.data(), bytes.size(), to), "fi_inject");
}

PostResult FabricEndpoint::send(std::uint64_t to, std::span<const iovec> pieces, void* descriptor,
                                Ticket& ticket) {
  if (pieces.size() == 1) {
    return outcome(
        ::fi_send(endpoint_.get(), pieces[0].iov_base, pieces[0].iov_len, descriptor, to, &ticket),
        "fi_send");
  }
  std::array<void*, most_sent_pieces> descriptors{};
  descriptors[0] = descriptor;
  return outcome(
      ::fi_sendv(endpoint_.get(), pieces.data(), descriptors.data(), pieces.size(), to, &ticket),
      "fi_sendv");
}

PostResult FabricEndpoint::receive(std::span<std::byte> memory, void* descriptor, Ticket& ticket) {
  ticket.begin = memory.data();
  const iovec piece{memory.data(), memory.size()};
  fi_msg message{};
  message.msg_iov = &piece;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = FI_ADDR_UNSPEC;
  message.context = &ticket;
  return outcome(::fi_recvmsg(endpoint_.get(), &message, can_.shares_buffers ? FI_MULTI_RECV : 0),
                 "fi_recvmsg");
}

PostResult FabricEndpoint::rdma_read(std::uint64_t peer, std::span<std::byte> to,
                                     std::uint32_t lkey, const RemoteAddress& from,
                                     Ticket& ticket) {
  return outcome(::fi_read(endpoint_.get(), to.data(), to.size(), opened_.descriptor(lkey), peer,
                           from.address, from.key, &ticket),
                 "fi_read");
}

PostResult FabricEndpoint::rdma_write(std::uint64_t peer, std::span<const std::byte> from,
                                      std::uint32_t lkey, const RemoteAddress& to, Ticket& ticket) {
  const iovec piece{const_cast<std::byte*>(from.data()), from.size()};
  void* descriptor = opened_.descriptor(lkey);
  const fi_rma_iov place{to.address, from.size(), to.key};
  fi_msg_rma message{};
  message.msg_iov = &piece;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = peer;
  message.rma_iov = &place;
  message.rma_iov_count = 1;
  message.context = &ticket;
  return outcome(::fi_writemsg(endpoint_.get(), &message, FI_DELIVERY_COMPLETE), "fi_writemsg");
}

PostResult FabricEndpoint::atomic(std::uint64_t peer, std::span<std::byte> was,
                                  const AtomicOperation& order, Ticket& ticket) {
  void* const result = opened_.descriptor(order.lkey);
  void* const operands = opened_.descriptor(order.operands_lkey);
  if (order.kind == AtomicOperation::Kind::add) {
    return outcome(
        ::fi_fetch_atomic(endpoint_.get(), order.operands, 1, operands, was.data(), result, peer,
                          order.place.address, order.place.key, FI_UINT64, FI_SUM, &ticket),
        "fi_fetch_atomic");
  }
  return outcome(
      ::fi_compare_atomic(endpoint_.get(), order.operands, 1, operands, order.operands + 1,
                          operands, was.data(), result, peer, order.place.address, order.place.key,
                          FI_UINT64, FI_CSWAP, &ticket),
      "fi_compare_atomic");
}

std::size_t FabricEndpoint::read(std::span<Event> events) {
  std::array<fi_cq_data_entry, most_events_at_once> entries;
  const ssize_t count =
      ::fi_cq_read(queue_.get(), entries.data(), std::min(entries.size(), events.size()));
  if (count == -FI_EAGAIN || count == 0) return 0;
  if (count < 0) return read_failure(events[0]);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const fi_cq_data_entry& entry = entries[i];
    auto* const ticket = static_cast<Ticket*>(entry.op_context);
    Event& event = events[i];
    event = {};
    event.ticket = ticket;
    if (ticket == nullptr || ticket->use != Ticket::Use::receive) continue;
    event.frees = !can_.shares_buffers || (entry.flags & FI_MULTI_RECV) != 0;
    if ((entry.flags & FI_RECV) == 0) {
      event.kind = Event::Kind::freed;
      continue;
    }
    const auto* const begin =
        can_.shares_buffers ? static_cast<const std::byte*>(entry.buf) : ticket->begin;
    event.bytes = {begin, entry.len};
  }
  return static_cast<std::size_t>(count);
}

std::size_t FabricEndpoint::read_failure(Event& event) {
  std::array<char, 256> text{};
  fi_cq_err_entry entry{};
  const ssize_t result = ::fi_cq_readerr(queue_.get(), &entry, 0);
  if (result == -FI_EAGAIN || result == 0) return 0;
  event = {};
  event.kind = Event::Kind::failed;
  if (result < 0) {
    last_error_ = std::string("fi_cq_readerr: ") + library_.strerror(static_cast<int>(-result));
    return 1;
  }
  event.ticket = static_cast<Ticket*>(entry.op_context);
  event.frees = event.ticket != nullptr && event.ticket->use == Ticket::Use::receive &&
                (!can_.shares_buffers || (entry.flags & FI_MULTI_RECV) != 0);
  last_error_ = library_.strerror(entry.err);
  const char* const more =
      ::fi_cq_strerror(queue_.get(), entry.prov_errno, entry.err_data, text.data(), text.size());
  if (more != nullptr && *more != '\0' && last_error_ != more) {
    last_error_ += std::string(" (") + more + ")";
  }
  return 1;
}

bool FabricEndpoint::arm() {
  if (descriptor_ < 0) return true;
  fid* waits[] = {&queue_->fid};
  return ::fi_trywait(fabric_.get(), waits, 1) == 0;
}

}  // namespace fulmar::fabric::ofi
