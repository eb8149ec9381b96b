// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/launch/launch_message.h"

#include <algorithm>

namespace fulmar::wire {
namespace {

using base::ErrorClass;
using base::failure;

class Writer {
 public:
  Writer& number(std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes_ += static_cast<char>(value >> shift & 0xff);
    return *this;
  }
  Writer& time(std::int64_t value) {
    return number(static_cast<std::uint32_t>(value >> 32))
        .number(static_cast<std::uint32_t>(value));
  }
  Writer& text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    bytes_ += value;
    return *this;
  }
  Writer& raw(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Once something does not fit, everything that follows is empty, and `whole` says so.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::uint32_t number() {
    std::uint32_t value = 0;
    for (const char byte : raw(4)) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }
  std::int64_t time() {
    const std::uint64_t high = number();
    return static_cast<std::int64_t>(high << 32 | number());
  }
  std::string text() {
    const std::string_view value = raw(number());
    if (value.find('\0') != std::string_view::npos) good_ = false;
    return std::string(value);
  }
  /// The length of a list whose elements have at least `element_bytes` bytes each.
  std::uint32_t length(std::size_t element_bytes) {
    const std::uint32_t count = number();
    if (count > launch_list_limit || count > rest_.size() / element_bytes) good_ = false;
    return good_ ? count : 0;
  }
  std::string_view raw(std::size_t count) {
    if (!good_ || count > rest_.size()) {
      good_ = false;
      return {};
    }
    const std::string_view value = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return value;
  }
  [[nodiscard]] bool whole() const { return good_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

template <class Value>
std::optional<Value> if_whole(const Reader& reader, Value value) {
  if (!reader.whole()) return std::nullopt;
  return value;
}

void write_program(Writer& writer, const LaunchProgram& program) {
  writer.text(program.program).number(program.processes);
  writer.number(static_cast<std::uint32_t>(program.arguments.size()));
  for (const std::string& argument : program.arguments) writer.text(argument);
  writer.number(static_cast<std::uint32_t>(program.info.size()));
  for (const auto& [key, value] : program.info) writer.text(key).text(value);
}

LaunchProgram read_program(Reader& reader) {
  LaunchProgram program;
  program.program = reader.text();
  program.processes = reader.number();
  for (std::uint32_t left = reader.length(4); left > 0; --left) {
    program.arguments.push_back(reader.text());
  }
  for (std::uint32_t left = reader.length(8); left > 0; --left) {
    std::string key = reader.text();
    program.info.emplace_back(std::move(key), reader.text());
  }
  return program;
}

void write_stillness(Writer& writer, const JobStillness& job) {
  writer.number(job.job).number(static_cast<std::uint32_t>(job.state));
  writer.time(job.since_ns).time(job.noted_ns).time(job.checked_ns);
  writer.number(static_cast<std::uint32_t>(job.needs.size()));
  for (const std::uint32_t other : job.needs) writer.number(other);
  writer.number(job.needs_more ? 1 : 0);
  writer.number(static_cast<std::uint32_t>(job.lines.size()));
  for (const std::string& line : job.lines) writer.text(line);
}

/// Nothing for a state that there is not.
std::optional<JobStillness> read_stillness(Reader& reader) {
  JobStillness job;
  job.job = reader.number();
  const std::uint32_t state = reader.number();
  if (state > static_cast<std::uint32_t>(JobStillness::State::standing)) return std::nullopt;
  job.state = static_cast<JobStillness::State>(state);
  job.since_ns = reader.time();
  job.noted_ns = reader.time();
  job.checked_ns = reader.time();
  for (std::uint32_t left = reader.length(4); left > 0; --left)
    job.needs.push_back(reader.number());
  const std::uint32_t more = reader.number();
  if (more > 1) return std::nullopt;
  job.needs_more = more == 1;
  for (std::uint32_t left = reader.length(4); left > 0; --left) job.lines.push_back(reader.text());
  return job;
}

int hex_digit(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  return -1;
}

}  // namespace

std::string encode_frame(LaunchKind kind, std::uint32_t request, std::string_view body) {
  return Writer()
      .raw({launch_magic.data(), launch_magic.size()})
      .number(launch_version)
      .number(static_cast<std::uint32_t>(kind))
      .number(request)
      .text(body)
      .take();
}

std::string encode_body(const LaunchHello& hello) {
  const auto* secret = reinterpret_cast<const char*>(hello.secret.data());
  return Writer().raw({secret, hello.secret.size()}).number(hello.job).number(hello.rank).take();
}

std::string encode_body(const LaunchSpawn& spawn) {
  Writer writer;
  writer.text(spawn.folder).text(spawn.parent_port);
  writer.number(static_cast<std::uint32_t>(spawn.programs.size()));
  for (const LaunchProgram& program : spawn.programs) write_program(writer, program);
  return writer.take();
}

std::string encode_body(const LaunchName& name) {
  return Writer().text(name.service).text(name.port).take();
}

std::string encode_body(const LaunchAnswer& answer) {
  Writer writer;
  writer.number(static_cast<std::uint32_t>(answer.error_class)).text(answer.text);
  writer.number(static_cast<std::uint32_t>(answer.codes.size()));
  for (const std::int32_t code : answer.codes) writer.number(static_cast<std::uint32_t>(code));
  return writer.take();
}

std::string encode_body(const LaunchJobEnded& ended) {
  return Writer()
      .text(ended.parent_port)
      .number(static_cast<std::uint32_t>(ended.exit_code))
      .take();
}

std::string encode_body(const LaunchStillness& stillness) {
  Writer writer;
  writer.number(static_cast<std::uint32_t>(stillness.size()));
  for (const JobStillness& job : stillness) write_stillness(writer, job);
  return writer.take();
}

std::optional<LaunchHello> decode_hello(std::string_view body) {
  Reader reader(body);
  LaunchHello hello;
  const std::string_view secret = reader.raw(hello.secret.size());
  std::copy(secret.begin(), secret.end(), hello.secret.begin());
  hello.job = reader.number();
  hello.rank = reader.number();
  return if_whole(reader, hello);
}

std::optional<LaunchSpawn> decode_spawn(std::string_view body) {
  Reader reader(body);
  LaunchSpawn spawn;
  spawn.folder = reader.text();
  spawn.parent_port = reader.text();
  for (std::uint32_t left = reader.length(16); left > 0; --left) {
    spawn.programs.push_back(read_program(reader));
  }
  return if_whole(reader, std::move(spawn));
}

std::optional<LaunchName> decode_name(std::string_view body) {
  Reader reader(body);
  LaunchName name;
  name.service = reader.text();
  name.port = reader.text();
  return if_whole(reader, std::move(name));
}

std::optional<LaunchAnswer> decode_answer(std::string_view body) {
  Reader reader(body);
  LaunchAnswer answer;
  answer.error_class = static_cast<std::int32_t>(reader.number());
  answer.text = reader.text();
  for (std::uint32_t left = reader.length(4); left > 0; --left) {
    answer.codes.push_back(static_cast<std::int32_t>(reader.number()));
  }
  return if_whole(reader, std::move(answer));
}

std::optional<LaunchJobEnded> decode_job_ended(std::string_view body) {
  Reader reader(body);
  LaunchJobEnded ended;
  ended.parent_port = reader.text();
  ended.exit_code = static_cast<std::int32_t>(reader.number());
  return if_whole(reader, std::move(ended));
}

std::optional<LaunchStillness> decode_stillness(std::string_view body) {
  constexpr std::size_t least_bytes = 44;  // of a job without needs and lines
  Reader reader(body);
  LaunchStillness stillness;
  for (std::uint32_t left = reader.length(least_bytes); left > 0; --left) {
    auto job = read_stillness(reader);
    if (!job) return std::nullopt;
    stillness.push_back(std::move(*job));
  }
  return if_whole(reader, std::move(stillness));
}

base::Result<std::optional<LaunchFrame>> LaunchReader::next() {
  const std::string_view known(launch_magic.data(), launch_magic.size());
  const std::string_view start = std::string_view(unread_).substr(0, known.size());
  if (!known.starts_with(start)) {
    return failure(ErrorClass::other, "what came is no message of mpiexec's spawn service");
  }
  if (unread_.size() < launch_header_bytes) return std::optional<LaunchFrame>();
  Reader reader(unread_);
  (void)reader.raw(known.size());
  const std::uint32_t version = reader.number();
  const std::uint32_t kind = reader.number();
  LaunchFrame frame;
  frame.request = reader.number();
  const std::uint32_t bytes = reader.number();
  if (version != launch_version) {
    return failure(
        ErrorClass::other,
        "a message of the spawn service is of version %u, this one speaks version %u; use "
        "mpiexec and library of one installation",
        version, launch_version);
  }
  if (kind == 0 || kind > last_launch_kind || bytes > body_limit_) {
    return failure(ErrorClass::other,
                   "a message of the spawn service is of kind %u and has %u bytes, which cannot be",
                   kind, bytes);
  }
  if (unread_.size() - launch_header_bytes < bytes) return std::optional<LaunchFrame>();
  frame.kind = static_cast<LaunchKind>(kind);
  frame.body = unread_.substr(launch_header_bytes, bytes);
  unread_.erase(0, launch_header_bytes + bytes);
  return std::optional<LaunchFrame>(std::move(frame));
}

std::optional<LaunchAddress> parse_launch_address(std::string_view text) {
  LaunchAddress address;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || !text.starts_with(launch_name_prefix) || colon > 100 ||
      text.size() - colon - 1 != 2 * address.secret.size()) {
    return std::nullopt;
  }
  address.name = text.substr(0, colon);
  for (std::size_t i = 0; i < address.secret.size(); ++i) {
    const int high = hex_digit(text[colon + 1 + 2 * i]);
    const int low = hex_digit(text[colon + 2 + 2 * i]);
    if (high < 0 || low < 0) return std::nullopt;
    address.secret[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return address;
}

std::string launch_address_text(const LaunchAddress& address) {
  std::string text = address.name + ":";
  for (const std::uint8_t byte : address.secret) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace fulmar::wire
