// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/node/job.h"

#include <cstring>
#include <new>

namespace fulmar::wire {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

/// The constants of a header, read once so that a later change of the memory cannot bypass the
/// checks.
struct HeaderCopy {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint64_t total_bytes;
  std::uint32_t rank_count;
  std::uint32_t app_count;
  std::uint32_t core_count;
  std::uint32_t flags;
  std::uint32_t job_id;
  std::uint32_t spare4;
  std::array<std::uint8_t, 32> job_key;
  std::int32_t mpiexec_pid;
  std::uint32_t record_bytes;
  std::uint64_t records_offset;
  std::uint64_t areas_offset;
  std::uint64_t area_bytes;
  std::uint32_t generation;
  std::uint32_t spare;
};
static_assert(sizeof(HeaderCopy) == 120);
static_assert(offsetof(HeaderCopy, generation) == offsetof(JobHeader, generation));

Error out_of_range(const char* field, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
  return failure(ErrorClass::other,
                 "job segment: %s is %llu, expected %llu to %llu; the descriptor in %s is no job "
                 "segment of this Fulmar",
                 field, static_cast<unsigned long long>(value),
                 static_cast<unsigned long long>(low), static_cast<unsigned long long>(high),
                 env_job_fd);
}

Error check(const char* field, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
  return value >= low && value <= high ? Error{} : out_of_range(field, value, low, high);
}

Error check_identity(const HeaderCopy& copy) {
  if (copy.magic != job_magic) {
    return failure(ErrorClass::other,
                   "job segment: no \"FULMARJ1\" at its start; the descriptor in %s is not one of "
                   "mpiexec's, start the program with Fulmar's mpiexec or unset the variable",
                   env_job_fd);
  }
  if (copy.version != job_layout_version) {
    return failure(ErrorClass::other,
                   "job segment: layout version %u, this library knows %u; use mpiexec and library "
                   "of one installation",
                   copy.version, job_layout_version);
  }
  return {};
}

Error check_layout(const HeaderCopy& copy, std::uint64_t file_bytes) {
  Error error = check("header_bytes", copy.header_bytes, sizeof(JobHeader), sizeof(JobHeader));
  if (error.ok())
    error = check("record_bytes", copy.record_bytes, sizeof(RankRecord), sizeof(RankRecord));
  if (error.ok()) error = check("total_bytes", copy.total_bytes, file_bytes, file_bytes);
  if (error.ok()) error = check("rank_count", copy.rank_count, 1, max_job_ranks);
  if (error.ok()) error = check("app_count", copy.app_count, 1, copy.rank_count);
  if (error.ok()) error = check("core_count", copy.core_count, 1, UINT32_MAX);
  if (error.ok()) error = check("job_id", copy.job_id, 1, UINT32_MAX);
  if (error.ok())
    error = check("records_offset", copy.records_offset, sizeof(JobHeader), sizeof(JobHeader));
  if (error.failed()) return error;

  const std::uint64_t areas_offset = areas_offset_for(copy.rank_count);
  error = check("areas_offset", copy.areas_offset, areas_offset, areas_offset);
  if (error.ok()) error = check("area_bytes", copy.area_bytes, min_area_bytes, max_area_bytes);
  if (error.ok()) error = check("area_bytes % 4096", copy.area_bytes % area_granule, 0, 0);
  if (error.failed()) return error;
  const std::uint64_t end = total_bytes_for(copy.rank_count, copy.area_bytes);
  return check("end of the areas", end, file_bytes, file_bytes);
}

void fill_header(JobHeader& header, const JobPlan& plan) {
  header.version = job_layout_version;
  header.header_bytes = sizeof(JobHeader);
  header.total_bytes = total_bytes_for(plan.rank_count, plan.area_bytes);
  header.rank_count = plan.rank_count;
  header.app_count = plan.app_count;
  header.core_count = plan.core_count;
  header.flags = plan.flags;
  header.job_id = plan.job_id;
  header.job_key = plan.job_key;
  header.mpiexec_pid = plan.mpiexec_pid;
  header.record_bytes = sizeof(RankRecord);
  header.records_offset = sizeof(JobHeader);
  header.areas_offset = areas_offset_for(plan.rank_count);
  header.area_bytes = plan.area_bytes;
  header.generation = plan.generation;
  header.magic = job_magic;
}

JobControl control_at(std::byte* start, std::uint32_t ranks) {
  auto* header = std::launder(reinterpret_cast<JobHeader*>(start));
  auto* records = std::launder(reinterpret_cast<RankRecord*>(start + sizeof(JobHeader)));
  return {header, {records, ranks}};
}

}  // namespace

base::Result<JobControl> format_job(std::span<std::byte> control, const JobPlan& plan) {
  Error error = check("rank_count", plan.rank_count, 1, max_job_ranks);
  if (error.ok()) error = check("app_count", plan.app_count, 1, plan.rank_count);
  if (error.ok()) error = check("core_count", plan.core_count, 1, UINT32_MAX);
  if (error.ok()) error = check("job_id", plan.job_id, 1, UINT32_MAX);
  if (error.ok()) error = check("area_bytes", plan.area_bytes, min_area_bytes, max_area_bytes);
  if (error.ok()) error = check("area_bytes % 4096", plan.area_bytes % area_granule, 0, 0);
  if (error.failed()) return error;
  if (control.size() < control_bytes_for(plan.rank_count)) {
    return failure(ErrorClass::arg, "job segment: %zu bytes are too few for %u ranks",
                   control.size(), plan.rank_count);
  }
  const JobControl made = control_at(control.data(), plan.rank_count);
  fill_header(*made.header, plan);
  for (std::uint32_t rank = 0; rank < plan.rank_count; ++rank) made.records[rank].rank = rank;
  return made;
}

base::Result<JobView> attach_job(std::span<std::byte> mapping) {
  if (mapping.size() < sizeof(JobHeader)) {
    return failure(
        ErrorClass::other,
        "job segment: %zu bytes are too few; the descriptor in %s is not one of mpiexec's",
        mapping.size(), env_job_fd);
  }
  HeaderCopy copy;
  std::memcpy(&copy, mapping.data(), sizeof copy);
  if (Error error = check_identity(copy); error.failed()) return error;
  if (Error error = check_layout(copy, mapping.size()); error.failed()) return error;

  const JobControl control = control_at(mapping.data(), copy.rank_count);
  JobView view;
  view.header = control.header;
  view.records = control.records;
  view.rank_count = copy.rank_count;
  view.app_count = copy.app_count;
  view.core_count = copy.core_count;
  view.flags = copy.flags;
  view.job_id = copy.job_id;
  view.job_key = copy.job_key;
  view.mpiexec_pid = copy.mpiexec_pid;
  view.areas_offset = copy.areas_offset;
  view.area_bytes = copy.area_bytes;
  view.generation = copy.generation;
  view.areas = mapping.data() + copy.areas_offset;
  return view;
}

}  // namespace fulmar::wire
