// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/spawn/group_exchange.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "mpi/coll/calls.h"
#include "mpi/comm/failure.h"
#include "mpi/comm_make/creation.h"
#include "mpi/datatype/datatype.h"
#include "mpi/p2p/message.h"
#include "mpi/spawn/job_keys.h"
#include "mpi/spawn/partners.h"
#include "mpi/spawn/share_host.h"
#include "wire/port/group_exchange.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using wire::GroupMember;
using wire::JobPairKey;
using Bytes = std::vector<std::byte>;

/// What a member says to its root: that it can take part, or a verdict that says why not.
template <std::size_t capacity>
struct Message {
  std::uint32_t failed = 0;
  std::uint32_t bytes = 0;
  std::array<std::byte, capacity> body{};

  void put(std::span<const std::byte> encoded) noexcept {
    bytes = static_cast<std::uint32_t>(std::min(encoded.size(), capacity));
    std::copy_n(encoded.begin(), bytes, body.begin());
  }
  [[nodiscard]] std::span<const std::byte> encoded() const noexcept {
    return std::span(body).first(std::min<std::size_t>(bytes, capacity));
  }
};
using Announcement = Message<8 + wire::max_group_member_bytes>;  ///< or a list of one member
using Outcome = Message<256>;
/// The header of a root's broadcast to its group.
struct Heading {
  std::uint64_t bytes = 0;
  std::uint32_t codes = 0;
  std::uint32_t failed = 0;     ///< what follows is a verdict
  std::uint32_t undecided = 0;  ///< of that verdict the other group may not know
};
constexpr std::size_t nonce_bytes = std::tuple_size_v<WrapNonce>;

std::vector<std::uint32_t> jobs_of(std::span<const GroupMember> members) {
  std::vector<std::uint32_t> jobs;
  for (const GroupMember& member : members) {
    const bool known = std::find(jobs.begin(), jobs.end(), member.name.job) != jobs.end();
    if (!known) jobs.push_back(member.name.job);
  }
  return jobs;
}

/// The class comes from another process.
Error error_of(const wire::ExchangeVerdict& verdict, const char* origin) {
  if (verdict.error_class == 0) return {};
  const auto error_class = static_cast<ErrorClass>(verdict.error_class);
  const bool known = std::strcmp(base::error_class_name(error_class), "MPI_ERR_UNKNOWN") != 0;
  return failure(known ? error_class : ErrorClass::other, "%s: %s", origin, verdict.text.c_str());
}

Bytes verdict_of(const Error& error) {
  return wire::encode_verdict({static_cast<std::uint32_t>(error.code()), error.text()});
}

/// The first of a group that cannot take part, with its reason; success: there is none.
template <class T>
Error refusal_among(std::span<const T> all) {
  const auto one = std::ranges::find_if(all, [](const T& each) { return each.failed != 0; });
  if (one == all.end()) return {};
  const auto verdict = wire::decode_verdict(one->encoded());
  if (verdict.failed()) return verdict.error();
  const std::string who = "rank " + std::to_string(one - all.begin()) + " cannot take part";
  return error_of(verdict.value(), who.c_str());
}

/// Of the key between job `job` and job `other` among all that travel.
std::uint32_t place_of(const std::vector<std::uint32_t>& jobs, std::uint32_t job) {
  return static_cast<std::uint32_t>(std::find(jobs.begin(), jobs.end(), job) - jobs.begin());
}

MemberInfo info_of(const GroupMember& member) {
  MemberInfo info{};
  info.context = member.context;
  info.local_context = member.local_context;
  info.job = member.name.job;
  info.rank_in_job = member.name.rank;
  info.engine = member.name.engine;
  return info;
}

/// One call in one process.
class GroupExchange final : public GroupSteps {
 public:
  GroupExchange(Library& library, Comm& comm, int root)
      : library_(library),
        comm_(comm),
        root_(root),
        byte_(*library.find<Datatype>(MPI_BYTE)),
        give_up_([&comm] { return failure_of(comm); }),
        sharing_(begin(library)) {}
  ~GroupExchange() override { memory().end_connect(sharing_); }

  Error run(const OpenConnection& open, NewComm& fresh, Error so_far, std::vector<int>* codes);
  /// After `run`.
  [[nodiscard]] MemberTable table() const;
  /// After a `run` that failed: the other group may have made the communicator all the same.
  [[nodiscard]] bool may_be_made_there() const noexcept { return installed_ && undecided_; }

 private:
  [[nodiscard]] bool is_root() const override { return comm_.rank == root_; }
  [[nodiscard]] std::size_t size() const override { return static_cast<std::size_t>(comm_.size()); }
  [[nodiscard]] const GiveUp& give_up() const override { return give_up_; }
  [[nodiscard]] HostMemoryService& memory() const { return library_.ports->host_memory(); }
  static HostMemoryService::Sharing begin(Library& library) {
    library.ports->release();
    return library.ports->host_memory().begin_connect();
  }
  [[nodiscard]] const fabric::ProcessTable& processes() const {
    return library_.device->processes();
  }
  Error broadcast(void* address, std::size_t bytes);
  Error gather(const void* own, std::size_t bytes, void* all) override;
  Error share(const Error& outcome, Bytes& payload, std::vector<int>& codes);
  Error share(const Error& outcome, Bytes& payload) override {
    std::vector<int> no_codes;
    return share(outcome, payload, no_codes);
  }
  base::Result<Bytes> swap(const Bytes& own) override;

  Error announce(NewComm& fresh, const Error& so_far);
  Error take_announcements(std::span<const Announcement> all);
  Error exchange_members(const OpenConnection& open, std::vector<int>* codes);
  Error exchange_keys();
  base::Result<Bytes> own_keys() const;
  base::Result<Bytes> collect_keys(const Bytes& all);
  base::Result<Bytes> wrap_keys(std::span<const JobPairKey> keys) const;
  Error install(const Bytes& payload);
  Error install_keys(std::span<const JobPairKey> keys, const WrapNonce& nonce);
  Error conclude(Error own);

  Library& library_;
  Comm& comm_;
  int root_;
  const Datatype& byte_;
  GiveUp give_up_;
  HostMemoryService::Sharing sharing_;
  std::optional<base::KeyedHash> hash_;
  Error failed_;                                ///< why this process cannot take part
  std::unique_ptr<PortConnection> connection_;  ///< at the root
  std::vector<GroupMember> local_;
  std::vector<GroupMember> remote_;
  bool has_host_memory_ = false;
  bool installed_ = false;  ///< the processes of the other group are known here
  bool undecided_ = false;  ///< no verdict of both groups has come
};

Error GroupExchange::broadcast(void* address, std::size_t bytes) {
  return bcast({address, static_cast<Count>(bytes), &byte_}, root_, comm_);
}

Error GroupExchange::gather(const void* own, std::size_t bytes, void* all) {
  const auto count = static_cast<Count>(bytes);
  return mpi::gather({own, count, &byte_}, {all, count, is_root() ? &byte_ : nullptr}, root_,
                     comm_);
}

/// From the root to all: `payload`, or why there is none.
Error GroupExchange::share(const Error& outcome, Bytes& payload, std::vector<int>& codes) {
  Heading heading;
  if (is_root()) {
    if (outcome.failed()) payload = verdict_of(outcome);
    heading = {payload.size(), static_cast<std::uint32_t>(codes.size()), outcome.failed() ? 1U : 0U,
               undecided_ ? 1U : 0U};
  }
  if (const Error error = broadcast(&heading, sizeof heading); error.failed()) return error;
  payload.resize(heading.bytes);
  if (const Error error = broadcast(payload.data(), payload.size()); error.failed()) return error;
  codes.resize(heading.codes);
  if (!codes.empty()) {
    const Error error = broadcast(codes.data(), codes.size() * sizeof codes[0]);
    if (error.failed()) return error;
  }
  undecided_ = heading.undecided != 0;
  if (heading.failed == 0) return {};
  if (is_root()) return outcome;
  const auto verdict = wire::decode_verdict(payload);
  if (verdict.failed()) return verdict.error();
  return error_of(verdict.value(), ("at rank " + std::to_string(root_) + ", the root").c_str());
}

base::Result<Bytes> GroupExchange::swap(const Bytes& own) {
  return connection_->swap(own, give_up_);
}

Error GroupExchange::announce(NewComm& fresh, const Error& so_far) {
  failed_ = so_far;
  GroupMember own;
  const MemberInfo info = fresh.announcement(so_far, NewComm::Boards::none);
  if (fresh.comm() == nullptr && failed_.ok()) {
    failed_ = failure(ErrorClass::no_mem, "no memory for another communicator");
  }
  if (failed_.ok()) {
    auto address = library_.ports->own_address();
    failed_ = address.error();
    if (address.ok()) own.address = std::move(*address);
  }
  if (failed_.ok()) {
    const auto hash = base::KeyedHash::load();
    failed_ = hash.error();
    if (hash.ok()) hash_ = hash.value();
  }
  own.name = processes().own_name();
  own.job_size = library_.world->processes;
  own.context = info.context;
  own.local_context = info.local_context;
  own.host = sharing_ == HostMemoryService::Sharing::yes ? memory().host() : 0;
  Announcement announcement;
  announcement.failed = failed_.failed() ? 1 : 0;
  announcement.put(failed_.failed() ? verdict_of(failed_) : wire::encode_members({&own, 1}));
  std::vector<Announcement> all(is_root() ? size() : 0);
  if (const Error error = gather(&announcement, sizeof announcement, all.data()); error.failed()) {
    return error;
  }
  return is_root() ? take_announcements(all) : Error();
}

Error GroupExchange::take_announcements(std::span<const Announcement> all) {
  if (const Error refused = refusal_among(all); refused.failed()) return refused;
  for (const Announcement& one : all) {
    const auto list = wire::decode_members(one.encoded());
    if (list.failed()) return list.error();
    local_.push_back(list.value().front());
  }
  return {};
}

/// The first step, after the announcements: `trouble` keeps the root from asking for a connection.
Error GroupExchange::exchange_members(const OpenConnection& open, std::vector<int>* codes) {
  Error outcome = failed_;
  Bytes payload;
  std::vector<int> shared_codes;
  if (is_root() && outcome.ok()) {
    const Bytes own = wire::encode_members(local_);
    Opening opening = open(own, give_up_);
    shared_codes = std::move(opening.codes);
    outcome = opening.connected.error();
    if (outcome.ok()) {
      connection_ = std::move(opening.connected->connection);
      const auto theirs = wire::decode_members(opening.connected->first);
      outcome = theirs.error();
      payload = own;
      payload.insert(payload.end(), opening.connected->first.begin(),
                     opening.connected->first.end());
      // Where the second list begins.
      const std::uint64_t split = own.size();
      const auto* const bytes = reinterpret_cast<const std::byte*>(&split);
      payload.insert(payload.end(), bytes, bytes + sizeof split);
    }
  }
  const Error told = share(outcome, payload, shared_codes);
  if (codes != nullptr) *codes = std::move(shared_codes);
  if (failed_.failed() && !is_root()) return failed_;
  if (told.failed()) return told;
  std::uint64_t split = 0;
  if (payload.size() < sizeof split) return Error(ErrorClass::intern);
  std::memcpy(&split, payload.data() + payload.size() - sizeof split, sizeof split);
  payload.resize(payload.size() - sizeof split);
  if (split > payload.size()) return Error(ErrorClass::intern);
  auto ours = wire::decode_members(std::span(payload).first(split));
  if (ours.failed()) return ours.error();
  auto theirs = wire::decode_members(std::span(payload).subspan(split));
  if (theirs.failed()) return theirs.error();
  local_ = std::move(*ours);
  remote_ = std::move(*theirs);
  return local_.size() == size() ? Error() : Error(ErrorClass::intern);
}

/// For each job of the other group the key that this process's job makes, or zeros, for the root to
/// uncover.
base::Result<Bytes> GroupExchange::own_keys() const {
  const std::vector<std::uint32_t> jobs = jobs_of(remote_);
  const std::uint32_t own = processes().own_name().job;
  const base::Key own_key = *processes().key_of(own);
  const base::Key root_key = *processes().key_of(local_[static_cast<std::size_t>(root_)].name.job);
  WrapNonce nonce;
  if (!hash_->random(nonce)) return failure(ErrorClass::other, "the system has no random numbers");
  Bytes record(nonce.begin(), nonce.end());
  for (const std::uint32_t job : jobs) {
    std::optional<base::Key> key = base::Key{};
    if (own < job) {
      key = pair_key(*hash_, own_key, own, job);
      if (key) key = wrapped(*hash_, root_key, nonce, place_of(jobs, job), *key);
    }
    if (!key) return failure(ErrorClass::other, "the library for HMAC-SHA-256 refuses its service");
    const auto bytes = std::as_bytes(std::span(*key));
    record.insert(record.end(), bytes.begin(), bytes.end());
  }
  return record;
}

/// At the root: the keys that the jobs of this group make, one member of each job being asked; and
/// those of the other group. Returns the broadcast to the group.
base::Result<Bytes> GroupExchange::collect_keys(const Bytes& all) {
  const std::vector<std::uint32_t> remote_jobs = jobs_of(remote_);
  const std::size_t record_bytes = nonce_bytes + remote_jobs.size() * sizeof(base::Key);
  std::vector<JobPairKey> made;
  for (const std::uint32_t job : jobs_of(local_)) {
    const auto member = std::find_if(local_.begin(), local_.end(),
                                     [&](const GroupMember& one) { return one.name.job == job; });
    const auto rank = static_cast<std::size_t>(member - local_.begin());
    const auto record = std::span(all).subspan(rank * record_bytes, record_bytes);
    WrapNonce nonce;
    std::copy_n(record.begin(), nonce_bytes, nonce.begin());
    for (std::uint32_t i = 0; i < remote_jobs.size(); ++i) {
      if (job >= remote_jobs[i]) continue;
      base::Key hidden;
      std::memcpy(hidden.data(), &record[nonce_bytes + i * sizeof hidden], sizeof hidden);
      const auto key = wrapped(*hash_, *processes().key_of(job), nonce, i, hidden);
      if (!key)
        return failure(ErrorClass::other, "the library for HMAC-SHA-256 refuses its service");
      made.push_back({remote_jobs[i], job, *key});
    }
  }
  const auto bytes = swap(wire::encode_keys(made));
  if (bytes.failed()) return bytes.error();
  auto keys = wire::decode_keys(bytes.value());
  if (keys.failed()) return keys.error();
  for (const JobPairKey& key : made) keys->push_back({key.other_job, key.job, key.key});
  return wrap_keys(keys.value());
}

/// For the members: each job's keys are hidden under what that job and the root share.
base::Result<Bytes> GroupExchange::wrap_keys(std::span<const JobPairKey> keys) const {
  WrapNonce nonce;
  if (!hash_->random(nonce)) return failure(ErrorClass::other, "the system has no random numbers");
  std::vector<JobPairKey> hidden;
  for (const JobPairKey& key : keys) {
    const base::Key* const shared = processes().key_of(key.job);
    if (shared == nullptr) continue;  // the other root is not to be trusted with that
    const auto wrap =
        wrapped(*hash_, *shared, nonce, static_cast<std::uint32_t>(hidden.size()), key.key);
    if (!wrap)
      return failure(ErrorClass::other, "the library for HMAC-SHA-256 refuses its service");
    hidden.push_back({key.job, key.other_job, *wrap});
  }
  Bytes payload(nonce.begin(), nonce.end());
  const Bytes list = wire::encode_keys(hidden);
  payload.insert(payload.end(), list.begin(), list.end());
  return payload;
}

Error GroupExchange::exchange_keys() {
  auto own = own_keys();
  const std::size_t bytes = nonce_bytes + jobs_of(remote_).size() * sizeof(base::Key);
  Error problem = own.error();
  Bytes record = own.ok() ? std::move(*own) : Bytes(bytes);
  Bytes all(is_root() ? size() * bytes : 0);
  if (const Error error = gather(record.data(), bytes, all.data()); error.failed()) return error;
  Error outcome;
  Bytes payload;
  if (is_root()) {
    auto told = collect_keys(all);
    outcome = told.error();
    if (told.ok()) payload = std::move(*told);
  }
  const Error shared = share(outcome, payload);
  if (shared.failed()) return shared;
  if (problem.ok()) problem = install(payload);
  return conclude(problem);
}

Error GroupExchange::install(const Bytes& payload) {
  if (payload.size() < nonce_bytes) return Error(ErrorClass::intern);
  WrapNonce nonce;
  std::copy_n(payload.begin(), nonce_bytes, nonce.begin());
  const auto keys = wire::decode_keys(std::span(payload).subspan(nonce_bytes));
  if (keys.failed()) return keys.error();
  if (const Error error = install_keys(keys.value(), nonce); error.failed()) return error;
  const std::uint32_t own = processes().own_name().job;
  for (const GroupMember& member : remote_) {
    if (!processes().id_of(member.name)) {
      return failure(
          ErrorClass::other,
          "rank %u of job %08x cannot be added: job %08x is known here with another size, or "
          "no key came for it; connect again, or start one of the two jobs again",
          member.name.rank, member.name.job, member.name.job);
    }
    if (member.name.job == own) continue;
    const Error error = library_.ports->add_address(member.name, member.address);
    if (error.failed()) return error;
  }
  const bool shares = has_host_memory_ && sharing_ == HostMemoryService::Sharing::yes;
  return shares ? use_host_memory(memory(), remote_) : Error();
}

/// Makes the jobs of the other group known here.
Error GroupExchange::install_keys(std::span<const JobPairKey> keys, const WrapNonce& nonce) {
  const std::uint32_t own = processes().own_name().job;
  const base::Key shared = *processes().key_of(local_[static_cast<std::size_t>(root_)].name.job);
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    if (keys[i].job != own || keys[i].other_job == own) continue;
    const auto member = std::find_if(remote_.begin(), remote_.end(), [&](const GroupMember& one) {
      return one.name.job == keys[i].other_job;
    });
    if (member == remote_.end()) continue;
    const auto key = wrapped(*hash_, shared, nonce, i, keys[i].key);
    if (!key) return failure(ErrorClass::other, "the library for HMAC-SHA-256 refuses its service");
    if (!library_.device->add_job(member->name.job, member->job_size, *key)) {
      return failure(ErrorClass::other, "this process knows 2^32 others and can know no more");
    }
  }
  return {};
}

/// The third step: no process sends before all are ready.
Error GroupExchange::conclude(Error own) {
  installed_ = own.ok();
  undecided_ = !is_root();
  Outcome mine;
  mine.failed = own.failed() ? 1 : 0;
  if (own.failed()) mine.put(verdict_of(own));
  std::vector<Outcome> all(is_root() ? size() : 0);
  if (const Error error = gather(&mine, sizeof mine, all.data()); error.failed()) return error;
  Error outcome = own;
  if (is_root()) {
    if (outcome.ok()) outcome = refusal_among(std::span<const Outcome>(all));
    undecided_ = outcome.ok();
    const auto bytes = swap(verdict_of(outcome));
    undecided_ = undecided_ && bytes.failed();
    const auto theirs = bytes.ok() ? wire::decode_verdict(bytes.value())
                                   : base::Result<wire::ExchangeVerdict>(bytes.error());
    if (outcome.ok()) outcome = theirs.error();
    if (outcome.ok()) outcome = error_of(theirs.value(), "in the other group");
  }
  Bytes nothing;
  const Error shared = share(outcome, nothing);
  return own.failed() ? own : shared;
}

Error GroupExchange::run(const OpenConnection& open, NewComm& fresh, Error so_far,
                         std::vector<int>* codes) {
  const Error announced = announce(fresh, so_far);
  if (announced.failed()) {
    if (!is_root()) return announced;
    if (failed_.ok()) failed_ = announced;  // the others hear of it
  }
  if (const Error error = exchange_members(open, codes); error.failed()) return error;
  const auto shares = get_host_memory(*this, memory(), processes().own_name(), local_, remote_);
  if (shares.failed()) return shares.error();
  has_host_memory_ = shares.value();
  return exchange_keys();
}

MemberTable GroupExchange::table() const {
  MemberTable table;
  for (const GroupMember& member : local_) table.local.push_back(info_of(member));
  for (const GroupMember& member : remote_) table.remote.push_back(info_of(member));
  return table;
}

}  // namespace

Error connect_groups(Library& library, Comm& comm, int root, const OpenConnection& open,
                     MPI_Comm& out, std::vector<int>* codes) {
  out = MPI_COMM_NULL;
  if (comm.is_inter) {
    return failure(ErrorClass::comm, "argument comm: must be an intracommunicator");
  }
  NewComm fresh(library, NewComm::Shape::inter);
  GroupExchange exchange(library, comm, root);
  const Error connected = exchange.run(open, fresh, failure_so_far(comm, {}), codes);
  if (connected.failed()) {
    if (exchange.may_be_made_there()) withdraw(*fresh.comm(), comm.session, exchange.table());
    return connected;
  }
  const Error error = settle(*fresh.comm(), comm.session, exchange.table());
  if (error.failed()) return error;
  inherit_errhandler(*fresh.comm(), comm);
  connect_partners(*fresh.comm());
  fresh.give(out);
  return {};
}

}  // namespace fulmar::mpi
