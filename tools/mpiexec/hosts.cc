// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/hosts.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>

#include "wire/node/job.h"

namespace fulmar::mpiexec {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using base::Result;

constexpr std::uint32_t most_hosts = 16384;
constexpr std::string_view blanks = " \t\r";

Error no_host(std::string_view where, std::string_view entry) {
  return failure(
      ErrorClass::arg, "%.*s: \"%.*s\" is no host; write HOST, HOST:N or, in a file, HOST slots=N",
      static_cast<int>(where.size()), where.data(), static_cast<int>(entry.size()), entry.data());
}

std::optional<std::uint32_t> number_in(std::string_view text, std::uint32_t most) {
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc{} || stop != end || value > most) return std::nullopt;
  return value;
}

bool is_name(std::string_view name) {
  const auto fits = [](unsigned char letter) {
    return std::isalnum(letter) != 0 || std::strchr("-._@:%", letter) != nullptr;
  };
  return !name.empty() && name.front() != '-' && std::all_of(name.begin(), name.end(), fits);
}

/// "HOST:N", "HOST", "[::1]:N", "::1". False when the number makes no sense.
bool split_places(std::string_view& entry, std::uint32_t& places) {
  const std::size_t close = entry.find(']');
  const bool in_brackets = entry.starts_with('[') && entry.find(':') < close;
  if (in_brackets && close == std::string_view::npos) return false;
  const std::size_t colon = in_brackets ? close + 1 : entry.rfind(':');
  if (!in_brackets && entry.find(':') != colon) return true;  // an IPv6 address
  if (colon < entry.size()) {
    const auto number = number_in(entry.substr(colon + 1), wire::max_job_ranks);
    if (entry[colon] != ':' || !number || *number == 0) return false;
    places = *number;
  }
  entry = entry.substr(0, colon);
  if (in_brackets) entry = entry.substr(1, close - 1);
  return true;
}

/// Adds the names "node07" ... of the range "07-12" between `before` and `after`.
bool add_range(std::string_view range, const std::string& before, const std::string& after,
               std::vector<std::string>& names) {
  const std::size_t dash = std::min(range.find('-'), range.size());
  const std::string_view low = range.substr(0, dash);
  const std::string_view high = dash == range.size() ? low : range.substr(dash + 1);
  const auto first = number_in(low, 99'999'999);
  const auto last = number_in(high, 99'999'999);
  if (!first || !last || *last < *first || *last - *first >= most_hosts) return false;
  for (std::uint32_t i = *first; i <= *last; ++i) {
    std::string digits = std::to_string(i);
    if (digits.size() < low.size()) digits.insert(0, low.size() - digits.size(), '0');
    names.push_back(before + digits + after);
  }
  return true;
}

/// "node[0-3,7]" as five names; a name without brackets as itself.
std::optional<std::vector<std::string>> expand(std::string_view entry) {
  const std::size_t open = entry.find('[');
  if (open == std::string_view::npos) return std::vector{std::string(entry)};
  const std::size_t close = entry.find(']', open);
  if (close == std::string_view::npos) return std::nullopt;
  std::vector<std::string> names;
  std::string_view ranges = entry.substr(open + 1, close - open - 1);
  while (true) {
    const std::size_t comma = std::min(ranges.find(','), ranges.size());
    if (!add_range(ranges.substr(0, comma), std::string(entry.substr(0, open)),
                   std::string(entry.substr(close + 1)), names)) {
      return std::nullopt;
    }
    if (comma == ranges.size()) return names;
    ranges.remove_prefix(comma + 1);
  }
}

/// Adds what one entry, "HOST:N", means; `slots` replaces its number where it is not 0.
Error add_entry(std::string_view where, std::string_view entry, std::uint32_t slots,
                std::vector<Host>& hosts) {
  std::uint32_t places = 1;
  std::string_view name = entry;
  if (!split_places(name, places)) return no_host(where, entry);
  const auto names = expand(name);
  if (!names) return no_host(where, entry);
  for (const std::string& each : *names) {
    if (!is_name(each)) return no_host(where, entry);
    const Host host{each, slots > 0 ? slots : places};
    add_hosts(hosts, {&host, 1});
  }
  return {};
}

/// Words of other launchers' files that say nothing about how many ranks a host takes.
bool is_harmless(std::string_view word) {
  constexpr std::array<std::string_view, 6> starts = {
      "max_slots=", "max-slots=", "binding=", "user=", "ifhn=", "port="};
  return std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return word.starts_with(start); });
}

/// "host slots = 2" as "host slots=2".
std::string without_blanks_at_equals(std::string_view line) {
  std::string out;
  for (const char letter : line) {
    const bool is_blank = blanks.find(letter) != std::string_view::npos;
    if (is_blank && out.ends_with('=')) continue;
    if (letter == '=') out.erase(out.find_last_not_of(blanks) + 1);
    out += letter;
  }
  return out;
}

Error parse_line(const std::string& where, std::string_view text, std::vector<Host>& hosts) {
  std::string_view entry;
  std::uint32_t slots = 0;
  const std::string joined = without_blanks_at_equals(text.substr(0, text.find('#')));
  std::string_view line = joined;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    if (line.empty()) break;
    const std::size_t end = std::min(line.find_first_of(blanks), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(end);
    if (entry.empty()) {
      entry = word;
    } else if (word.starts_with("slots=")) {
      const auto number = number_in(word.substr(6), wire::max_job_ranks);
      if (!number || *number == 0) return no_host(where, word);
      slots = *number;
    } else if (!is_harmless(word)) {
      return no_host(where, word);
    }
  }
  return entry.empty() ? Error{} : add_entry(where, entry, slots, hosts);
}

struct FreeAddresses {
  void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};

/// Whether an interface of this machine has this address.
bool is_own_address(const std::string& text) {
  in_addr v4{};
  in6_addr v6{};
  const bool is_v4 = ::inet_pton(AF_INET, text.c_str(), &v4) == 1;
  if (!is_v4 && ::inet_pton(AF_INET6, text.c_str(), &v6) != 1) return false;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return false;
  const std::unique_ptr<ifaddrs, FreeAddresses> list(first);
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    const auto* const bytes = reinterpret_cast<const char*>(entry->ifa_addr);
    if (is_v4 && entry->ifa_addr->sa_family == AF_INET &&
        std::memcmp(bytes + offsetof(sockaddr_in, sin_addr), &v4, sizeof v4) == 0) {
      return true;
    }
    if (!is_v4 && entry->ifa_addr->sa_family == AF_INET6 &&
        std::memcmp(bytes + offsetof(sockaddr_in6, sin6_addr), &v6, sizeof v6) == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<std::vector<Host>> parse_host_list(std::string_view option, std::string_view text) {
  std::vector<Host> hosts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char letter = i < text.size() ? text[i] : ',';
    if (letter == '[') ++depth;
    if (letter == ']') --depth;
    if (i < text.size() && (letter != ',' || depth > 0)) continue;
    const std::string_view entry = text.substr(begin, i - begin);
    begin = i + 1;
    if (entry.empty()) continue;
    if (const Error error = add_entry(option, entry, 0, hosts); error.failed()) return error;
  }
  if (hosts.empty()) return no_host(option, text);
  return hosts;
}

Result<std::vector<Host>> parse_host_file(const std::string& file, std::string_view text) {
  std::vector<Host> hosts;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string where = file + ":" + std::to_string(number);
    const Error error = parse_line(where, text.substr(0, end), hosts);
    if (error.failed()) return error;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (hosts.empty()) {
    return failure(ErrorClass::arg, "the file of hosts \"%s\" names no host", file.c_str());
  }
  return hosts;
}

Result<std::vector<Host>> read_host_file(const std::string& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  if (!stream) {
    return failure(ErrorClass::arg, "the file of hosts \"%s\" cannot be read: %s", file.c_str(),
                   std::strerror(errno));
  }
  return parse_host_file(file, text.view());
}

void add_hosts(std::vector<Host>& hosts, std::span<const Host> more) {
  for (const Host& host : more) {
    const auto known = std::find_if(hosts.begin(), hosts.end(),
                                    [&](const Host& other) { return other.name == host.name; });
    if (known == hosts.end()) {
      hosts.push_back(host);
    } else {
      known->places = std::min(known->places + host.places, wire::max_job_ranks);
    }
  }
}

std::uint64_t places_of(std::span<const Host> hosts) {
  return std::accumulate(hosts.begin(), hosts.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Host& host) { return sum + host.places; });
}

std::vector<Share> share_ranks(std::span<const Host> hosts, std::uint32_t ranks, Dealing dealing) {
  std::vector<Share> shares;
  for (const Host& host : hosts) shares.push_back({host.name, 0});
  std::uint32_t left = ranks;
  while (left > 0) {
    for (std::size_t i = 0; i < hosts.size() && left > 0; ++i) {
      const std::uint32_t most = dealing == Dealing::in_turn ? 1 : hosts[i].places;
      const std::uint32_t count = std::min(most, left);
      shares[i].ranks += count;
      left -= count;
    }
  }
  std::erase_if(shares, [](const Share& share) { return share.ranks == 0; });
  return shares;
}

bool is_this_machine(std::string_view name, std::string_view self) {
  name = name.substr(name.find('@') + 1);  // "user@host"; nothing found is npos, so 0
  if (name == "localhost" || name == "localhost.localdomain" || name == self) return true;
  if (is_own_address(std::string(name))) return true;
  const std::size_t dot = std::min(name.find('.'), name.size());
  const std::size_t own_dot = std::min(self.find('.'), self.size());
  const bool one_is_short = dot == name.size() || own_dot == self.size();
  return one_is_short && !self.empty() && name.substr(0, dot) == self.substr(0, own_dot);
}

std::string own_host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

}  // namespace fulmar::mpiexec
