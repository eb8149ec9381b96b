// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// PMI-1 after the start: spawning processes, and the name service.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime/bootstrap/pmi1.h"
#include "runtime/quoted_length.h"
#include "wire/value_text.h"

namespace fulmar::runtime::bootstrap {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

/// Of the first process' space of a spawned job, set by the launcher; parts as in bootstrap.cc.
constexpr const char* key_parent_port = "fulmar.parent_port";

std::string port_key(std::size_t part) {
  return part == 0 ? key_parent_port : std::string(key_parent_port) + "." + std::to_string(part);
}

std::string numbered(const char* name, std::size_t number, const std::string& value) {
  return name + std::to_string(number) + "=" + value + "\n";
}

bool has_newline(const std::string& text) { return text.find('\n') != std::string::npos; }

/// The launcher does not support environment variables: `env` sets them.
std::vector<std::string> words_of(const StartOrder& order) {
  std::vector<std::string> words;
  if (!order.environment.empty()) {
    words.emplace_back("/usr/bin/env");
    for (const auto& [name, value] : order.environment) words.push_back(name + "=" + value);
  }
  words.push_back(order.program);
  words.insert(words.end(), order.arguments.begin(), order.arguments.end());
  return words;
}

std::string block_of(const StartOrder& order, const std::vector<std::string>& words,
                     const std::vector<std::string>& port) {
  std::string text;
  for (std::size_t i = 1; i < words.size(); ++i) text += numbered("arg", i, words[i]);
  text += "argcnt=" + std::to_string(words.size() - 1) + "\n";
  text += "preput_num=" + std::to_string(port.size()) + "\n";
  for (std::size_t i = 0; i < port.size(); ++i) {
    text += numbered("preput_key_", i, port_key(i)) + numbered("preput_val_", i, port[i]);
  }
  const wire::SpawnInfo folder = {{"wdir", order.folder}};
  text += "info_num=" + std::to_string(order.info.size() + 1) + "\n";
  std::size_t number = 0;
  for (const wire::SpawnInfo& info : {folder, order.info}) {
    for (const auto& [key, value] : info) {
      text += numbered("info_key_", number, key) + numbered("info_val_", number, value);
      ++number;
    }
  }
  return text + "endcmd";
}

/// Names as words of the protocol: what a line cannot hold is written as %XX. What has none of that
/// reads as programs of other libraries have written it.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte > 0x20 && byte < 0x7f && letter != '%' && letter != '=') {
      result += letter;
      continue;
    }
    std::array<char, 4> code{};
    std::snprintf(code.data(), code.size(), "%%%02X", byte);
    result += code.data();
  }
  return result;
}

std::string unescaped(std::string_view text) {
  const auto digit = [](char letter) {
    if (letter >= '0' && letter <= '9') return letter - '0';
    return letter >= 'A' && letter <= 'F' ? letter - 'A' + 10 : -1;
  };
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool code =
        text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    if (code) {
      result += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace

Error Pmi1::spawn(std::span<const StartOrder> orders, std::string_view parent_port) {
  const auto port = wire::encode_value(std::as_bytes(std::span(parent_port)));
  if (port.failed()) return failure(ErrorClass::spawn, "%s", port.error().text().c_str());
  std::string request;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const std::vector<std::string> words = words_of(orders[i]);
    const std::string block = block_of(orders[i], words, port.value());
    const auto lines = static_cast<std::size_t>(std::count(block.begin(), block.end(), '\n'));
    const std::size_t expected =
        words.size() - 1 + 1 + 1 + 2 * port.value().size() + 1 + 2 * (orders[i].info.size() + 1);
    if (lines != expected || has_newline(words[0])) {
      return failure(
          ErrorClass::spawn,
          "an argument, variable or info value of \"%.100s\" holds a newline, which this "
          "launcher (PMI-1) cannot pass on",
          orders[i].program.c_str());
    }
    request += (i == 0 ? "" : "\n") + std::string("mcmd=spawn\nnprocs=") +
               std::to_string(orders[i].processes) + "\nexecname=" + words[0] +
               "\ntotspawns=" + std::to_string(orders.size()) +
               "\nspawnssofar=" + std::to_string(i + 1) + "\n" + block;
  }
  const std::lock_guard lock(in_use_);
  if (Error error = send(request); error.failed()) {
    return failure(ErrorClass::spawn, "%s", error.text().c_str());
  }
  const auto answer = receive();
  if (answer.failed()) return failure(ErrorClass::spawn, "%s", answer.error().text().c_str());
  const long rc = answer.value().number("rc").value_or(-1);
  if (answer.value().command() == "spawn_result" && rc == 0) return {};
  const std::string_view why = answer.value().find("msg").value_or("no reason given");
  return failure(
      ErrorClass::spawn,
      "the launcher does not start %u processes of \"%.100s\": rc=%ld, %.*s (PMI-1); are "
      "there free slots, and is the program there on their host?",
      orders[0].processes, orders[0].program.c_str(), rc, quoted_length(why), why.data());
}

std::string Pmi1::parent_port() {
  const char* spawned = std::getenv(wire::env_pmi_spawned);
  if (spawned == nullptr || std::strcmp(spawned, "0") == 0) return {};
  const std::lock_guard lock(in_use_);
  std::vector<std::string> parts;
  std::size_t count = 1;
  while (parts.size() < count) {
    auto part = get(port_key(parts.size()));
    if (part.failed()) return {};  // it was spawned by another library
    parts.push_back(std::move(*part));
    const auto said = wire::value_parts(parts[0]);
    if (said.failed()) return {};
    count = said.value();
  }
  const auto bytes = wire::decode_value(parts);
  if (bytes.failed()) return {};
  return {reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size()};
}

/// Slurm's would replace the port of a name that is published already.
Error Pmi1::publish_name(std::string_view service, std::string_view port) {
  if (lookup_name(service).ok()) {
    return failure(ErrorClass::service,
                   "the service \"%.*s\" is published already at this launcher",
                   quoted_length(service), service.data());
  }
  const std::lock_guard lock(in_use_);
  const auto answer = ask("cmd=publish_name service=" + escaped(service) + " port=" + escaped(port),
                          "publish_result");
  if (answer.ok()) return {};
  return failure(ErrorClass::service, "the launcher does not publish the service \"%.*s\": %s",
                 quoted_length(service), service.data(), answer.error().text().c_str());
}

base::Result<std::string> Pmi1::lookup_name(std::string_view service) {
  const std::lock_guard lock(in_use_);
  const auto answer = ask("cmd=lookup_name service=" + escaped(service), "lookup_result");
  const std::string_view port =
      answer.ok() ? answer.value().find("port").value_or("") : std::string_view();
  if (!port.empty()) return unescaped(port);
  return failure(ErrorClass::name, "nobody has published the service \"%.*s\" at this launcher",
                 quoted_length(service), service.data());
}

Error Pmi1::unpublish_name(std::string_view service) {
  if (const auto port = lookup_name(service); port.failed()) {
    return failure(ErrorClass::service, "%s", port.error().text().c_str());
  }
  const std::lock_guard lock(in_use_);
  const auto answer = ask("cmd=unpublish_name service=" + escaped(service), "unpublish_result");
  if (answer.ok()) return {};
  return failure(ErrorClass::service, "the service \"%.*s\" is not published at this launcher",
                 quoted_length(service), service.data());
}

}  // namespace fulmar::runtime::bootstrap
