// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "base/os/fd.h"
#include "base/process_end.h"
#include "runtime/quoted_length.h"
#include "runtime/spawn/name_store.h"

namespace fulmar::runtime {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

constexpr std::string_view file_prefix = "fulmar-name-";
/// With the prefix below what file systems allow.
constexpr std::size_t longest_file_name = 240;
constexpr std::size_t longest_content = 8192;

/// What stands in a file: a line of these with blanks between, then the port.
struct Entry {
  std::uint32_t job = 0;
  pid_t pid = 0;
  std::uint64_t pid_space = 0;
  std::string boot;  ///< id of the kernel's boot
  std::string port;

  bool operator==(const Entry&) const = default;
};

std::string read_all(int fd, std::size_t limit) {
  std::string text(limit, '\0');
  std::size_t length = 0;
  while (length < limit) {
    const ssize_t bytes = ::read(fd, text.data() + length, limit - length);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) break;
    length += static_cast<std::size_t>(bytes);
  }
  text.resize(length);
  return text;
}

std::string own_boot() {
  const base::UniqueFd fd(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return "?";
  const std::string text = read_all(fd.get(), 64);
  return text.substr(0, text.find('\n'));
}

std::string text_of(const Entry& entry) {
  std::array<char, 96> head{};
  std::snprintf(head.data(), head.size(), "1 %08x %d %llu ", entry.job, entry.pid,
                static_cast<unsigned long long>(entry.pid_space));
  return head.data() + entry.boot + "\n" + entry.port;
}

template <class Number>
bool take(std::string_view& rest, Number& number, int base) {
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number, base);
  return code == std::errc() && end == word.data() + word.size();
}

std::optional<Entry> parse(std::string_view text) {
  Entry entry;
  int version = 0;
  const std::size_t line = text.find('\n');
  if (line == std::string_view::npos || text.find('\0') != std::string_view::npos) return {};
  std::string_view head = text.substr(0, line);
  if (!take(head, version, 10) || version != 1 || !take(head, entry.job, 16) ||
      !take(head, entry.pid, 10) || !take(head, entry.pid_space, 10)) {
    return std::nullopt;
  }
  entry.boot = head;
  entry.port = text.substr(line + 1);
  if (entry.port.empty()) return std::nullopt;
  return entry;
}

class NamesInFolder final : public NameStore {
 public:
  NamesInFolder(std::string folder, std::uint32_t job) : folder_(std::move(folder)), job_(job) {}

  Error publish(std::string_view service, std::string_view port) override {
    const auto file = file_of(service);
    if (file.failed()) return file.error();
    const Entry entry{job_, ::getpid(), base::pid_space(), own_boot(), std::string(port)};
    const auto draft = write_draft(text_of(entry));
    if (draft.failed()) return draft.error();
    bool made = ::link(draft.value().c_str(), file.value().c_str()) == 0;
    int reason = errno;
    // Reading removes the file of a publisher that has ended.
    if (!made && reason == EEXIST && read(service).failed()) {
      made = ::link(draft.value().c_str(), file.value().c_str()) == 0;
      reason = errno;
    }
    ::unlink(draft.value().c_str());
    if (made) return {};
    if (reason == EEXIST) {
      return failure(
          ErrorClass::service,
          "the service \"%.*s\" is published already in FULMAR_NAMES=%.200s; choose another "
          "name, or unpublish it first",
          quoted_length(service), service.data(), folder_.c_str());
    }
    return folder_failure(reason);
  }

  base::Result<std::string> lookup(std::string_view service) override {
    auto entry = read(service);
    if (entry.failed()) return entry.error();
    return std::move(entry->port);
  }

  Error unpublish(std::string_view service, std::string_view port) override {
    const auto entry = read(service);
    if (entry.failed()) return failure(ErrorClass::service, "%s", entry.error().text().c_str());
    if (entry.value().job != job_ || (!port.empty() && entry.value().port != port)) {
      return failure(ErrorClass::service,
                     "the service \"%.*s\" was published by job %08x, with its port; only that job "
                     "can unpublish it",
                     quoted_length(service), service.data(), entry.value().job);
    }
    const auto file = file_of(service);
    if (file.failed()) return file.error();
    return ::unlink(file.value().c_str()) == 0 ? Error{} : folder_failure(errno);
  }

 private:
  [[nodiscard]] Error folder_failure(int reason) const {
    return failure(ErrorClass::service, "the folder FULMAR_NAMES=%.200s cannot be used: %s",
                   folder_.c_str(), std::strerror(reason));
  }

  [[nodiscard]] base::Result<std::string> file_of(std::string_view service) const {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    std::string name(file_prefix);
    for (const char letter : service) {
      if (plain.find(letter) != std::string_view::npos) {
        name += letter;
      } else {
        std::array<char, 4> code{};
        std::snprintf(code.data(), code.size(), "%%%02X", static_cast<unsigned char>(letter));
        name += code.data();
      }
    }
    if (!service.empty() && name.size() <= longest_file_name) return folder_ + "/" + name;
    return failure(
        ErrorClass::service,
        "the service name \"%.*s\" is empty or too long for a file in FULMAR_NAMES=%.200s",
        quoted_length(service), service.data(), folder_.c_str());
  }

  /// A file of this content under a name that nobody looks for.
  [[nodiscard]] base::Result<std::string> write_draft(const std::string& content) const {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number) return folder_failure(errno);
    std::string file = folder_ + "/.fulmar-draft-" + std::to_string(number);
    const base::UniqueFd fd(
        ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd.valid()) return folder_failure(errno);
    if (content.size() <= longest_content &&
        ::write(fd.get(), content.data(), content.size()) == static_cast<ssize_t>(content.size())) {
      return file;
    }
    const int reason = content.size() > longest_content ? EMSGSIZE : errno;
    ::unlink(file.c_str());
    return folder_failure(reason);
  }

  /// Fails: name.
  [[nodiscard]] base::Result<Entry> read(std::string_view service) const {
    const auto file = file_of(service);
    if (file.failed()) return failure(ErrorClass::name, "%s", file.error().text().c_str());
    const base::UniqueFd fd(
        ::open(file.value().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!fd.valid() && errno == ENOENT && ::access(folder_.c_str(), X_OK) == 0) {
      return failure(ErrorClass::name,
                     "nobody has published the service \"%.*s\" in FULMAR_NAMES=%.200s",
                     quoted_length(service), service.data(), folder_.c_str());
    }
    if (!fd.valid()) return folder_failure(errno);
    struct stat status{};
    if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != ::geteuid() || (status.st_mode & 077) != 0) {
      return failure(
          ErrorClass::name,
          "the file of the service \"%.*s\" in FULMAR_NAMES=%.200s is another user's, or "
          "others may read it: it is not believed",
          quoted_length(service), service.data(), folder_.c_str());
    }
    auto entry = parse(read_all(fd.get(), longest_content));
    if (!entry) {
      return failure(ErrorClass::name,
                     "the file of the service \"%.*s\" in FULMAR_NAMES=%.200s cannot be read",
                     quoted_length(service), service.data(), folder_.c_str());
    }
    if (entry->boot != own_boot() || entry->pid_space != base::pid_space() ||
        !base::process_has_ended(entry->pid)) {
      return std::move(*entry);
    }
    ::unlink(file.value().c_str());
    return failure(ErrorClass::name,
                   "the service \"%.*s\" is published no more: process %d, which did, has ended",
                   quoted_length(service), service.data(), entry->pid);
  }

  std::string folder_;
  std::uint32_t job_;
};

}  // namespace

std::unique_ptr<NameStore> names_in_folder(std::string folder, std::uint32_t job) {
  return std::make_unique<NamesInFolder>(std::move(folder), job);
}

}  // namespace fulmar::runtime
