// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/port/group_exchange.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "wire/network_order.h"

namespace fulmar::wire {
namespace {

using base::ErrorClass;
using base::failure;

constexpr std::uint32_t members_magic = 0x464d4d32;  // "FMM2"
constexpr std::uint32_t keys_magic = 0x464d4b31;     // "FMK1"
constexpr std::uint32_t tickets_magic = 0x464d5431;  // "FMT1"
constexpr std::uint32_t verdict_magic = 0x464d5631;  // "FMV1"
constexpr std::size_t header_bytes = 8;
constexpr std::size_t key_bytes = 40;
constexpr std::size_t ticket_bytes = 64;
constexpr std::array<std::byte, 3> three_zeros{};

base::Error damaged(const char* what) {
  return failure(
      ErrorClass::other,
      "what the other group of processes has sent makes no sense: %s; use the same version "
      "of Fulmar for both",
      what);
}

/// The number behind the magic; the elements need at least `element_bytes` each.
base::Result<std::uint32_t> count_of(NetworkReader& in, std::size_t bytes, std::uint32_t magic,
                                     std::size_t element_bytes) {
  if (bytes < header_bytes || in.number<std::uint32_t>() != magic) {
    return damaged("it is not the list that was awaited");
  }
  const auto count = in.number<std::uint32_t>();
  if (count > (bytes - header_bytes) / element_bytes) return damaged("a list ends early");
  return count;
}

const char* problem_of(const GroupMember& member) {
  if (member.name.job == 0) return "a process is of no job";
  if (member.name.engine != 0) return "a process has a second engine";
  if (member.name.rank >= member.job_size) return "a rank is not below the size of its job";
  return nullptr;
}

/// Of the list as a whole.
base::Error check(std::span<const GroupMember> members) {
  if (members.empty()) return damaged("a group is empty");
  std::set<ProcessName> names;
  std::map<std::uint32_t, std::uint32_t> sizes;
  for (const GroupMember& member : members) {
    if (!names.insert(member.name).second) return damaged("a process is in its group twice");
    const auto [size, is_new] = sizes.emplace(member.name.job, member.job_size);
    if (!is_new && size->second != member.job_size) return damaged("a job has two sizes");
  }
  return {};
}

}  // namespace

std::vector<std::byte> encode_members(std::span<const GroupMember> members) {
  std::size_t bytes = header_bytes;
  for (const GroupMember& member : members) bytes += group_member_bytes + member.address.size();
  std::vector<std::byte> encoded(bytes);
  NetworkWriter out(encoded);
  out.number(members_magic);
  out.number(static_cast<std::uint32_t>(members.size()));
  for (const GroupMember& member : members) {
    put_process_name(out, member.name);
    out.bytes(three_zeros);
    out.number(member.job_size);
    out.number(member.context);
    out.number(member.local_context);
    out.number(member.host);
    out.number(static_cast<std::uint32_t>(member.address.size()));
    out.bytes(member.address);
  }
  return encoded;
}

base::Result<std::vector<GroupMember>> decode_members(std::span<const std::byte> bytes) {
  NetworkReader in(bytes);
  const auto count = count_of(in, bytes.size(), members_magic, group_member_bytes);
  if (count.failed()) return count.error();
  std::size_t left = bytes.size() - header_bytes;
  std::vector<GroupMember> members;
  members.reserve(count.value());
  for (std::uint32_t i = 0; i < count.value(); ++i) {
    if (left < group_member_bytes) return damaged("a list ends early");
    left -= group_member_bytes;
    GroupMember& member = members.emplace_back();
    member.name = get_process_name(in);
    std::array<std::byte, 3> zeros;
    in.bytes(zeros);
    member.job_size = in.number<std::uint32_t>();
    member.context = in.number<std::uint32_t>();
    member.local_context = in.number<std::uint32_t>();
    member.host = in.number<std::uint64_t>();
    const auto length = in.number<std::uint32_t>();
    if (zeros != three_zeros) return damaged("there is something between two fields");
    if (const char* const problem = problem_of(member); problem != nullptr) return damaged(problem);
    if (length > std::min(left, max_network_address_bytes))
      return damaged("an address is too long");
    left -= length;
    member.address.resize(length);
    in.bytes(member.address);
  }
  if (left != 0) return damaged("there is something behind a list");
  if (const base::Error error = check(members); error.failed()) return error;
  return members;
}

std::vector<std::byte> encode_keys(std::span<const JobPairKey> keys) {
  std::vector<std::byte> encoded(header_bytes + keys.size() * key_bytes);
  NetworkWriter out(encoded);
  out.number(keys_magic);
  out.number(static_cast<std::uint32_t>(keys.size()));
  for (const JobPairKey& key : keys) {
    out.number(key.job);
    out.number(key.other_job);
    out.bytes(std::as_bytes(std::span(key.key)));
  }
  return encoded;
}

base::Result<std::vector<JobPairKey>> decode_keys(std::span<const std::byte> bytes) {
  NetworkReader in(bytes);
  const auto count = count_of(in, bytes.size(), keys_magic, key_bytes);
  if (count.failed()) return count.error();
  if (bytes.size() != header_bytes + count.value() * key_bytes) {
    return damaged("there is something behind a list");
  }
  std::vector<JobPairKey> keys(count.value());
  for (JobPairKey& key : keys) {
    key.job = in.number<std::uint32_t>();
    key.other_job = in.number<std::uint32_t>();
    in.bytes(std::as_writable_bytes(std::span(key.key)));
    if (key.job == 0 || key.other_job == 0) return damaged("a key is of no job");
  }
  return keys;
}

std::vector<std::byte> encode_tickets(const HostTickets& tickets) {
  std::vector<std::byte> encoded(header_bytes + 4 + tickets.tickets.size() * ticket_bytes);
  NetworkWriter out(encoded);
  out.number(tickets_magic);
  out.number(static_cast<std::uint32_t>(tickets.tickets.size()));
  out.number(static_cast<std::uint32_t>(tickets.wish));
  for (const HostTicket& one : tickets.tickets) {
    out.number(one.host);
    out.bytes(std::as_bytes(std::span(one.ticket.name)));
    out.bytes(std::as_bytes(std::span(one.ticket.secret)));
    out.number(one.ticket.bytes);
  }
  return encoded;
}

base::Result<HostTickets> decode_tickets(std::span<const std::byte> bytes) {
  NetworkReader in(bytes);
  const auto count = count_of(in, bytes.size(), tickets_magic, ticket_bytes);
  if (count.failed()) return count.error();
  if (bytes.size() != header_bytes + 4 + count.value() * ticket_bytes) {
    return damaged("there is something behind a list");
  }
  HostTickets tickets;
  const auto wish = in.number<std::uint32_t>();
  if (wish > static_cast<std::uint32_t>(SharingWish::refused)) return damaged("an unknown wish");
  tickets.wish = static_cast<SharingWish>(wish);
  std::set<std::uint64_t> hosts;
  for (std::uint32_t i = 0; i < count.value(); ++i) {
    HostTicket& one = tickets.tickets.emplace_back();
    one.host = in.number<std::uint64_t>();
    in.bytes(std::as_writable_bytes(std::span(one.ticket.name)));
    in.bytes(std::as_writable_bytes(std::span(one.ticket.secret)));
    one.ticket.bytes = in.number<std::uint64_t>();
    if (one.host == 0) return damaged("a ticket is of no host");
    if (!hosts.insert(one.host).second) return damaged("a host has two tickets");
  }
  return tickets;
}

std::vector<std::byte> encode_verdict(const ExchangeVerdict& verdict) {
  const std::size_t length = std::min(verdict.text.size(), max_verdict_text_bytes);
  std::vector<std::byte> encoded(header_bytes + length);
  NetworkWriter out(encoded);
  out.number(verdict_magic);
  out.number(verdict.error_class);
  out.bytes(std::as_bytes(std::span(verdict.text.data(), length)));
  return encoded;
}

base::Result<ExchangeVerdict> decode_verdict(std::span<const std::byte> bytes) {
  NetworkReader in(bytes);
  if (bytes.size() < header_bytes || in.number<std::uint32_t>() != verdict_magic) {
    return damaged("it is not the verdict that was awaited");
  }
  ExchangeVerdict verdict{in.number<std::uint32_t>(), {}};
  const auto text = bytes.subspan(header_bytes);
  if (text.size() > max_verdict_text_bytes) return damaged("a text is too long");
  verdict.text.resize(text.size());
  in.bytes(std::as_writable_bytes(std::span(verdict.text)));
  // It is printed: control characters are omitted.
  std::erase_if(verdict.text,
                [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  return verdict;
}

}  // namespace fulmar::wire
