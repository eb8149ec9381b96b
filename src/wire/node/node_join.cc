// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/node/node_join.h"

#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

namespace fulmar::wire {
namespace {

using base::ErrorClass;
using base::failure;

constexpr std::array<char, 4> job_card_magic = {'F', 'U', 'J', '0' + node_join_version};
constexpr std::array<char, 4> node_card_magic = {'F', 'U', 'N', '0' + node_join_version};

/// The format of a card: magic, then the fields one after the other.
class Writer {
 public:
  template <class T>
  Writer& put(const T& value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
    return *this;
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}
  /// Reads nothing more after a field was incomplete.
  template <class T>
  Reader& get(T& value) {
    good_ = good_ && rest_.size() >= sizeof value;
    if (!good_) return *this;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return *this;
  }
  [[nodiscard]] bool complete() const { return good_ && rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
  bool good_ = true;
};

base::Error bad_card(const char* what, std::size_t bytes) {
  return failure(ErrorClass::other,
                 "the %s of %zu bytes that a rank published is not of this version of Fulmar; let "
                 "all ranks use one installation",
                 what, bytes);
}

}  // namespace

std::vector<std::byte> encode(const JobInfo& card) {
  return Writer().put(job_card_magic).put(card.job_id).put(card.key).take();
}

std::vector<std::byte> encode(const NodeInfo& card) {
  return Writer().put(node_card_magic).put(card.name).put(card.secret).take();
}

base::Result<JobInfo> decode_job_card(std::span<const std::byte> bytes) {
  JobInfo card;
  std::array<char, 4> magic{};
  const bool complete = Reader(bytes).get(magic).get(card.job_id).get(card.key).complete();
  if (!complete || magic != job_card_magic || card.job_id == 0) {
    return bad_card("card of the job", bytes.size());
  }
  return card;
}

base::Result<NodeInfo> decode_node_card(std::span<const std::byte> bytes) {
  NodeInfo card;
  std::array<char, 4> magic{};
  const bool complete = Reader(bytes).get(magic).get(card.name).get(card.secret).complete();
  if (!complete || magic != node_card_magic) return bad_card("card of a node", bytes.size());
  return card;
}

std::string node_socket_name(const NodeInfo& card) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string name = "fulmar-node-";
  for (const std::uint8_t byte : card.name) {
    name += digits[byte >> 4];
    name += digits[byte & 15];
  }
  return name;
}

std::string encode_ranks(std::span<const std::uint32_t> ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(ranks[i]);
    if (last > i) text += "-" + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

base::Result<std::vector<std::uint32_t>> decode_ranks(std::string_view text, std::uint32_t size) {
  std::vector<std::uint32_t> ranks;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](std::uint32_t& value) {
    const auto [next, error] = std::from_chars(at, end, value);
    at = next;
    return error == std::errc() && value < size;
  };
  while (true) {
    std::uint32_t first = 0;
    bool good = number(first) && (ranks.empty() || first > ranks.back());
    std::uint32_t last = first;
    if (good && at != end && *at == '-') {
      ++at;
      good = number(last) && last > first;
    }
    if (!good) break;
    for (std::uint32_t rank = first; rank <= last; ++rank) ranks.push_back(rank);
    if (at == end) return ranks;
    if (*at++ != ',') break;
  }
  return failure(ErrorClass::other, "\"%.60s\" is no list of ranks of a job of %u",
                 std::string(text).c_str(), size);
}

bool same_secret(std::span<const std::uint8_t, 32> a,
                 std::span<const std::uint8_t, 32> b) noexcept {
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace fulmar::wire
