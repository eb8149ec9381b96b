// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/port/port_name.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>

namespace fulmar::wire {
namespace {

using base::ErrorClass;
using base::failure;

constexpr std::string_view prefix = "fulmar1/";
constexpr std::size_t secret_digits = 2 * std::tuple_size_v<PortSecret>;

std::string text_of_place(const TcpAddress& place) {
  std::array<char, INET6_ADDRSTRLEN> host{};
  const bool v6 = place.family == AddressFamily::v6;
  ::inet_ntop(v6 ? AF_INET6 : AF_INET, place.bytes.data(), host.data(), host.size());
  const std::string scope = place.scope == 0 ? "" : "%" + std::to_string(place.scope);
  const std::string name = v6 ? "[" + std::string(host.data()) + scope + "]" : host.data();
  return name + ":" + std::to_string(place.port);
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<TcpAddress> parse_place(std::string_view text) {
  TcpAddress place;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = number_of<std::uint16_t>(text.substr(colon + 1));
  if (!port || *port == 0) return std::nullopt;
  place.port = *port;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']') && host.size() > 2) {
    host = host.substr(1, host.size() - 2);
    place.family = AddressFamily::v6;
    if (const std::size_t sign = host.find('%'); sign != std::string_view::npos) {
      const auto scope = number_of<std::uint32_t>(host.substr(sign + 1));
      if (!scope || *scope == 0) return std::nullopt;
      place.scope = *scope;
      host = host.substr(0, sign);
    }
  }
  const int family = place.family == AddressFamily::v6 ? AF_INET6 : AF_INET;
  if (::inet_pton(family, std::string(host).c_str(), place.bytes.data()) != 1) return std::nullopt;
  return place;
}

std::optional<std::uint8_t> digit_of(char letter) {
  if (letter >= '0' && letter <= '9') return static_cast<std::uint8_t>(letter - '0');
  if (letter >= 'a' && letter <= 'f') return static_cast<std::uint8_t>(letter - 'a' + 10);
  return std::nullopt;
}

std::optional<PortSecret> parse_secret(std::string_view text) {
  if (text.size() != secret_digits) return std::nullopt;
  PortSecret secret{};
  for (std::size_t i = 0; i < secret_digits; ++i) {
    const auto digit = digit_of(text[i]);
    if (!digit) return std::nullopt;
    secret[i / 2] = static_cast<std::uint8_t>(secret[i / 2] << 4 | *digit);
  }
  return secret;
}

/// Hides the secret, which must not appear in logs.
base::Error no_port(std::string_view text, const char* what) {
  const std::size_t shown = std::min<std::size_t>(text.size(), prefix.size());
  return failure(
      ErrorClass::port,
      "argument port_name: \"%.*s%s\" is no name of a port: %s; give what MPI_Open_port or "
      "MPI_Lookup_name returned",
      static_cast<int>(shown), text.data(), shown < text.size() ? "..." : "", what);
}

}  // namespace

std::string text_of(const PortName& port) {
  std::string text(prefix);
  for (const std::uint8_t byte : port.secret) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", byte);
    text += digits.data();
  }
  char separator = '/';
  const std::size_t count = std::min(port.places.size(), max_port_places);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string place = text_of_place(port.places[i]);
    if (text.size() + 1 + place.size() > max_port_name_bytes) break;
    text += separator + place;
    separator = ',';
  }
  return text;
}

base::Result<PortName> parse_port_name(std::string_view text) {
  if (text.size() > max_port_name_bytes) return no_port(text, "it is too long");
  if (!text.starts_with(prefix)) return no_port(text, "it does not begin with \"fulmar1/\"");
  const std::string_view rest = text.substr(prefix.size());
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return no_port(text, "it has no addresses");
  const auto secret = parse_secret(rest.substr(0, slash));
  if (!secret) return no_port(text, "its secret is not 32 hexadecimal digits");
  PortName port{*secret, {}};
  std::string_view list = rest.substr(slash + 1);
  while (port.places.size() < max_port_places) {
    const std::size_t comma = list.find(',');
    const auto place = parse_place(list.substr(0, comma));
    if (!place) return no_port(text, "one of its addresses cannot be read");
    port.places.push_back(*place);
    if (comma == std::string_view::npos) return port;
    list.remove_prefix(comma + 1);
  }
  return no_port(text, "it has more than 16 addresses");
}

}  // namespace fulmar::wire
