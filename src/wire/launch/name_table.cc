// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/launch/name_table.h"

#include <algorithm>

namespace fulmar::wire {
namespace {

using base::ErrorClass;
using base::failure;

/// Of a name that is quoted in a text.
int quoted(const std::string& name) {
  return static_cast<int>(std::min<std::size_t>(name.size(), 100));
}

LaunchAnswer answer_of(const base::Error& error) { return {error.code(), error.text(), {}}; }

}  // namespace

base::Error NameTable::publish(const LaunchName& name, Publisher publisher) {
  if (name.service.empty() || name.service.size() > most_bytes || name.port.empty() ||
      name.port.size() > most_bytes) {
    return failure(ErrorClass::service,
                   "a service name of %zu bytes with a port name of %zu bytes cannot be published; "
                   "both need 1 to %zu bytes",
                   name.service.size(), name.port.size(), most_bytes);
  }
  if (entries_.size() >= most_names) {
    return failure(ErrorClass::service, "%zu services are published already; unpublish some",
                   entries_.size());
  }
  const auto [entry, is_new] = entries_.try_emplace(name.service, Entry{name.port, publisher});
  if (is_new) return {};
  return failure(ErrorClass::service,
                 "the service \"%.*s\" is published already, by job %08x; choose another name, or "
                 "unpublish it first",
                 quoted(name.service), name.service.c_str(), entry->second.publisher.job);
}

base::Result<std::string> NameTable::lookup(const std::string& service) const {
  const auto entry = entries_.find(service);
  if (entry != entries_.end()) return entry->second.port;
  return failure(ErrorClass::name, "nobody has published the service \"%.*s\"", quoted(service),
                 service.c_str());
}

base::Error NameTable::unpublish(const LaunchName& name, std::uint32_t job) {
  const auto entry = entries_.find(name.service);
  if (entry == entries_.end()) {
    return failure(ErrorClass::service, "the service \"%.*s\" is not published",
                   quoted(name.service), name.service.c_str());
  }
  if (entry->second.publisher.job != job) {
    return failure(
        ErrorClass::service,
        "the service \"%.*s\" was published by job %08x, and only that job can unpublish "
        "it",
        quoted(name.service), name.service.c_str(), entry->second.publisher.job);
  }
  if (!name.port.empty() && name.port != entry->second.port) {
    return failure(ErrorClass::service,
                   "the service \"%.*s\" is published with another port than the one given",
                   quoted(name.service), name.service.c_str());
  }
  entries_.erase(entry);
  return {};
}

void NameTable::forget(std::uint64_t connection) {
  std::erase_if(entries_, [connection](const auto& entry) {
    return entry.second.publisher.connection == connection;
  });
}

base::Result<LaunchAnswer> answer_about_name(NameTable& table, const LaunchFrame& frame,
                                             NameTable::Publisher publisher) {
  const auto name = decode_name(frame.body);
  if (!name) return failure(ErrorClass::other, "a message about a name cannot be read");
  switch (frame.kind) {
    case LaunchKind::publish:
      return answer_of(table.publish(*name, publisher));
    case LaunchKind::unpublish:
      return answer_of(table.unpublish(*name, publisher.job));
    case LaunchKind::lookup: {
      auto port = table.lookup(name->service);
      if (port.failed()) return answer_of(port.error());
      return LaunchAnswer{0, std::move(*port), {}};
    }
    default:
      return failure(ErrorClass::other, "a message of kind %u is not about a name",
                     static_cast<unsigned>(frame.kind));
  }
}

}  // namespace fulmar::wire
