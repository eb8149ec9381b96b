// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

/// What a process asks Fulmar's mpiexec after the start: to spawn more processes, and to keep names
/// of ports. The server is the mpiexec that the user started; it listens on a Unix stream socket in
/// the abstract name space, and serves the processes of all jobs that it has started. A process
/// that nobody started gives a server of its own (`mpiexec --spawn-server`) one end of a socket pair.
///
///     process                            mpiexec
///       hello (secret)      ---------->   same user and right secret? else close
///       spawn, publish, lookup, unpublish ---->
///                           <----------   answer, with the number of the request
///                           <----------   job_ended, at any time, for a job that it spawned
///       bye                 ---------->   the process leaves MPI in the proper way
///
/// mpiexec uses the same frames between itself and the process that runs a spawned job (`answer` when
/// it has started or could not be, `stillness` about once a second, `job_ended` at the end).
///
/// A frame is a header of 20 bytes and a body. All numbers are in network byte order; a text is its
/// length (4 bytes) and its bytes, without a zero byte in it; a list is its length and its elements.
namespace fulmar::wire {

/// NAME:SECRET, the socket's name and 32 hexadecimal digits that hello has to show.
inline constexpr const char* env_launch_socket = "FULMAR_LAUNCH_SOCKET";
/// The port of the process that spawned this job.
inline constexpr const char* env_parent_port = "FULMAR_PARENT_PORT";
/// MPI_UNIVERSE_SIZE.
inline constexpr const char* env_universe_size = "FULMAR_UNIVERSE_SIZE";
/// The first argument of an mpiexec that serves a process that no launcher started; the second one
/// is the number of a socket.
inline constexpr const char* spawn_server_option = "--spawn-server";

inline constexpr std::array<char, 4> launch_magic = {'F', 'U', 'L', 'S'};
/// Raised with every change of what is below.
inline constexpr std::uint32_t launch_version = 2;
inline constexpr std::string_view launch_name_prefix = "fulmar-launch-";

inline constexpr std::size_t launch_header_bytes = 20;
/// The longest body: command lines and environments of all programs of one spawn.
inline constexpr std::size_t launch_body_limit = std::size_t{16} << 20;
/// Programs of one spawn, and arguments or info entries of one program.
inline constexpr std::size_t launch_list_limit = 65536;

enum class LaunchKind : std::uint32_t {
  hello = 1,
  spawn = 2,
  publish = 3,
  lookup = 4,
  unpublish = 5,
  bye = 6,
  answer = 7,
  job_ended = 8,
  stillness = 9,
};
inline constexpr std::uint32_t last_launch_kind = 9;

using LaunchSecret = std::array<std::uint8_t, 16>;

struct LaunchHello {
  LaunchSecret secret{};
  std::uint32_t job = 0;  ///< the process name's (wire/process_name.h)
  std::uint32_t rank = 0;
  bool operator==(const LaunchHello&) const = default;
};

/// One command of a spawn.
struct LaunchProgram {
  std::string program;
  std::vector<std::string> arguments;
  std::uint32_t processes = 1;
  std::vector<std::pair<std::string, std::string>> info;
  bool operator==(const LaunchProgram&) const = default;
};

struct LaunchSpawn {
  std::string folder;  ///< the working folder of the process that asks
  std::string parent_port;
  std::vector<LaunchProgram> programs;
  bool operator==(const LaunchSpawn&) const = default;
};

/// Of publish, lookup (without a port) and unpublish.
struct LaunchName {
  std::string service;
  std::string port;
  bool operator==(const LaunchName&) const = default;
};

struct LaunchAnswer {
  std::int32_t error_class = 0;     ///< base::ErrorClass
  std::string text;                 ///< of the error; else the port that was looked up
  std::vector<std::int32_t> codes;  ///< of a spawn: an error class for each process
  bool operator==(const LaunchAnswer&) const = default;
};

struct LaunchJobEnded {
  std::string parent_port;  ///< as in the spawn
  std::int32_t exit_code = 0;
  bool operator==(const LaunchJobEnded&) const = default;
};

/// What can be seen from outside of the ranks of one job (of one generation, wire/node/job.h), for the
/// report of jobs that stand still. Times are CLOCK_MONOTONIC.
struct JobStillness {
  enum class State : std::uint32_t {
    moving = 0,    ///< some rank may go on by itself
    left = 1,      ///< no rank is in MPI
    standing = 2,  ///< all that are in MPI have waited for the time after which that is told
  };
  std::uint32_t job = 0;  ///< its id (wire/process_name.h)
  State state = State::moving;
  // The rest only while it stands.
  std::int64_t since_ns = 0;    ///< the latest begin of a wait
  std::int64_t noted_ns = 0;    ///< these waits have gone on at least since then
  std::int64_t checked_ns = 0;  ///< after that time each rank has looked twice in vain; 0: not yet
  /// Other jobs whose processes may end a wait.
  std::vector<std::uint32_t> needs{};
  bool needs_more = false;           ///< there are more than `needs` names
  std::vector<std::string> lines{};  ///< which rank waits for what
  bool operator==(const JobStillness&) const = default;
};
/// Of all generations of a spawned job.
using LaunchStillness = std::vector<JobStillness>;

/// What came in one frame. `body` is still to be decoded.
struct LaunchFrame {
  LaunchKind kind = LaunchKind::bye;
  std::uint32_t request = 0;  ///< an answer has that of its question
  std::string body;
};

/// A whole frame. Requires bodies within the limits above.
[[nodiscard]] std::string encode_frame(LaunchKind kind, std::uint32_t request,
                                       std::string_view body = {});

[[nodiscard]] std::string encode_body(const LaunchHello& hello);
[[nodiscard]] std::string encode_body(const LaunchSpawn& spawn);
[[nodiscard]] std::string encode_body(const LaunchName& name);
[[nodiscard]] std::string encode_body(const LaunchAnswer& answer);
[[nodiscard]] std::string encode_body(const LaunchJobEnded& ended);
[[nodiscard]] std::string encode_body(const LaunchStillness& stillness);

/// Each gives nothing unless the body is exactly one of these: no byte too few or too many, lists
/// within their limits, texts without a zero byte.
[[nodiscard]] std::optional<LaunchHello> decode_hello(std::string_view body);
[[nodiscard]] std::optional<LaunchSpawn> decode_spawn(std::string_view body);
[[nodiscard]] std::optional<LaunchName> decode_name(std::string_view body);
[[nodiscard]] std::optional<LaunchAnswer> decode_answer(std::string_view body);
[[nodiscard]] std::optional<LaunchJobEnded> decode_job_ended(std::string_view body);
[[nodiscard]] std::optional<LaunchStillness> decode_stillness(std::string_view body);

/// Cuts a stream of bytes into frames.
class LaunchReader {
 public:
  /// `body_limit`: longer frames are refused; a server takes no more than a hello from a stranger.
  explicit LaunchReader(std::size_t body_limit = launch_body_limit) : body_limit_(body_limit) {}
  void set_body_limit(std::size_t bytes) noexcept { body_limit_ = bytes; }

  void append(std::string_view bytes) { unread_.append(bytes); }
  /// The next whole frame; nothing while it has not all come. Fails (other) where the bytes are no
  /// frame, of another version, or one that is too long: the stream is of no more use then.
  base::Result<std::optional<LaunchFrame>> next();

 private:
  std::size_t body_limit_;
  std::string unread_;
};

/// NAME:SECRET in its parts; nothing for any other text.
struct LaunchAddress {
  std::string name;
  LaunchSecret secret{};
};
[[nodiscard]] std::optional<LaunchAddress> parse_launch_address(std::string_view text);
[[nodiscard]] std::string launch_address_text(const LaunchAddress& address);

}  // namespace fulmar::wire
