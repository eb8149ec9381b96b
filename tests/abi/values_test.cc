// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The numbers that compiled programs contain, typed in a second time: sizes and offsets, the code
// of handles (MPI 5.0 chapter 20), sentinels, and the error classes that the library uses inside.
#include <gtest/gtest.h>
#include <mpi-ext.h>
#include <mpi.h>

#include <cstddef>

#include "base/error.h"

namespace {

using fulmar::base::ErrorClass;

static_assert(sizeof(MPI_Status) == 32 && alignof(MPI_Status) == 4);
static_assert(offsetof(MPI_Status, MPI_SOURCE) == 0 && offsetof(MPI_Status, MPI_TAG) == 4);
static_assert(offsetof(MPI_Status, MPI_ERROR) == 8 && offsetof(MPI_Status, MPI_internal) == 12);
static_assert(sizeof(MPI_Aint) == sizeof(void*));
static_assert(sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8);
static_assert(MPI_VERSION == 5 && MPI_SUBVERSION == 0);
static_assert(MPI_ABI_VERSION == 1 && MPI_ABI_SUBVERSION == 0);
static_assert(MPI_ANY_SOURCE == -1 && MPI_ANY_TAG == -2 && MPI_PROC_NULL == -3 && MPI_ROOT == -4);
static_assert(MPI_UNDEFINED == -32766 && MPI_KEYVAL_INVALID == 0);
static_assert(MPI_THREAD_SINGLE == 0 && MPI_THREAD_FUNNELED == 1024);
static_assert(MPI_THREAD_SERIALIZED == 2048 && MPI_THREAD_MULTIPLE == 4096);
static_assert(MPI_MAX_PROCESSOR_NAME == 256 && MPI_MAX_ERROR_STRING == 512);
static_assert(MPI_MAX_OBJECT_NAME == 128 && MPI_MAX_INFO_KEY == 256 && MPI_MAX_INFO_VAL == 1024);
static_assert(MPI_MAX_PORT_NAME == 1024 && MPI_MAX_LIBRARY_VERSION_STRING == 8192);
static_assert(MPI_BSEND_OVERHEAD == 512 && MPI_F_STATUS_SIZE == 8 && MPI_ERR_LASTCODE == 16383);
static_assert(MPI_TAG_UB == 501 && MPI_APPNUM == 505 && MPI_UNIVERSE_SIZE == 507);
static_assert(MPI_IDENT == 201 && MPI_UNEQUAL == 204 && MPI_COMM_TYPE_SHARED == 221);
static_assert(MPI_COMBINER_NAMED == 101 && MPI_COMBINER_VALUE_INDEX == 117);

template <class Pointer>
std::uintptr_t number(Pointer pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

TEST(Handles, predefined_objects_have_their_codes) {
  EXPECT_EQ(number(MPI_COMM_NULL), 0x100U);
  EXPECT_EQ(number(MPI_COMM_WORLD), 0x101U);
  EXPECT_EQ(number(MPI_COMM_SELF), 0x102U);
  EXPECT_EQ(number(MPI_GROUP_NULL), 0x108U);
  EXPECT_EQ(number(MPI_GROUP_EMPTY), 0x109U);
  EXPECT_EQ(number(MPI_WIN_NULL), 0x110U);
  EXPECT_EQ(number(MPI_FILE_NULL), 0x118U);
  EXPECT_EQ(number(MPI_SESSION_NULL), 0x120U);
  EXPECT_EQ(number(MPI_MESSAGE_NULL), 0x128U);
  EXPECT_EQ(number(MPI_MESSAGE_NO_PROC), 0x129U);
  EXPECT_EQ(number(MPI_INFO_NULL), 0x130U);
  EXPECT_EQ(number(MPI_INFO_ENV), 0x131U);
  EXPECT_EQ(number(MPI_ERRHANDLER_NULL), 0x140U);
  EXPECT_EQ(number(MPI_ERRORS_ARE_FATAL), 0x141U);
  EXPECT_EQ(number(MPI_ERRORS_ABORT), 0x142U);
  EXPECT_EQ(number(MPI_ERRORS_RETURN), 0x143U);
  EXPECT_EQ(number(MPI_REQUEST_NULL), 0x180U);
  EXPECT_EQ(number(MPI_OP_NULL), 0x20U);
  EXPECT_EQ(number(MPI_SUM), 0x21U);
  EXPECT_EQ(number(MPI_MAX), 0x23U);
  EXPECT_EQ(number(MPI_NO_OP), 0x3dU);
  EXPECT_EQ(number(MPI_DATATYPE_NULL), 0x200U);
  EXPECT_EQ(number(MPI_INT), 0x209U);
  EXPECT_EQ(number(MPI_DOUBLE), 0x214U);
}

TEST(Handles, fixed_size_datatypes_carry_their_size) {
  const auto size = [](MPI_Datatype type) { return 1U << ((number(type) >> 3) & 7U); };
  EXPECT_EQ(size(MPI_CHAR), 1U);
  EXPECT_EQ(size(MPI_BYTE), 1U);
  EXPECT_EQ(size(MPI_INT8_T), 1U);
  EXPECT_EQ(size(MPI_UINT16_T), 2U);
  EXPECT_EQ(size(MPI_INT32_T), 4U);
  EXPECT_EQ(size(MPI_UINT64_T), 8U);
  EXPECT_EQ(size(MPI_LOGICAL1), 1U);
  EXPECT_EQ(size(MPI_INTEGER2), 2U);
  EXPECT_EQ(size(MPI_REAL8), 8U);
  EXPECT_EQ(size(MPI_COMPLEX16), 16U);
  EXPECT_EQ(size(MPI_COMPLEX32), 32U);
}

TEST(Sentinels, addresses_have_their_values) {
  EXPECT_EQ(number(MPI_BOTTOM), 0U);
  EXPECT_EQ(number(MPI_IN_PLACE), 1U);
  EXPECT_EQ(number(MPI_BUFFER_AUTOMATIC), 2U);
  EXPECT_EQ(number(MPI_STATUS_IGNORE), 0U);
  EXPECT_EQ(number(MPI_STATUSES_IGNORE), 0U);
  EXPECT_EQ(number(MPI_UNWEIGHTED), 10U);
  EXPECT_EQ(number(MPI_WEIGHTS_EMPTY), 11U);
  EXPECT_EQ(number(MPI_COMM_NULL_COPY_FN), 0U);
  EXPECT_EQ(number(MPI_COMM_DUP_FN), 1U);
  EXPECT_EQ(number(MPI_COMM_NULL_DELETE_FN), 0U);
}

struct NamedClass {
  ErrorClass error_class;
  int value;
  const char* name;
};

constexpr NamedClass classes[] = {
    {ErrorClass::success, MPI_SUCCESS, "MPI_SUCCESS"},
    {ErrorClass::buffer, MPI_ERR_BUFFER, "MPI_ERR_BUFFER"},
    {ErrorClass::count, MPI_ERR_COUNT, "MPI_ERR_COUNT"},
    {ErrorClass::type, MPI_ERR_TYPE, "MPI_ERR_TYPE"},
    {ErrorClass::tag, MPI_ERR_TAG, "MPI_ERR_TAG"},
    {ErrorClass::comm, MPI_ERR_COMM, "MPI_ERR_COMM"},
    {ErrorClass::rank, MPI_ERR_RANK, "MPI_ERR_RANK"},
    {ErrorClass::request, MPI_ERR_REQUEST, "MPI_ERR_REQUEST"},
    {ErrorClass::root, MPI_ERR_ROOT, "MPI_ERR_ROOT"},
    {ErrorClass::group, MPI_ERR_GROUP, "MPI_ERR_GROUP"},
    {ErrorClass::op, MPI_ERR_OP, "MPI_ERR_OP"},
    {ErrorClass::topology, MPI_ERR_TOPOLOGY, "MPI_ERR_TOPOLOGY"},
    {ErrorClass::dims, MPI_ERR_DIMS, "MPI_ERR_DIMS"},
    {ErrorClass::arg, MPI_ERR_ARG, "MPI_ERR_ARG"},
    {ErrorClass::unknown, MPI_ERR_UNKNOWN, "MPI_ERR_UNKNOWN"},
    {ErrorClass::truncate, MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE"},
    {ErrorClass::other, MPI_ERR_OTHER, "MPI_ERR_OTHER"},
    {ErrorClass::intern, MPI_ERR_INTERN, "MPI_ERR_INTERN"},
    {ErrorClass::pending, MPI_ERR_PENDING, "MPI_ERR_PENDING"},
    {ErrorClass::in_status, MPI_ERR_IN_STATUS, "MPI_ERR_IN_STATUS"},
    {ErrorClass::access, MPI_ERR_ACCESS, "MPI_ERR_ACCESS"},
    {ErrorClass::amode, MPI_ERR_AMODE, "MPI_ERR_AMODE"},
    {ErrorClass::assert, MPI_ERR_ASSERT, "MPI_ERR_ASSERT"},
    {ErrorClass::bad_file, MPI_ERR_BAD_FILE, "MPI_ERR_BAD_FILE"},
    {ErrorClass::base, MPI_ERR_BASE, "MPI_ERR_BASE"},
    {ErrorClass::conversion, MPI_ERR_CONVERSION, "MPI_ERR_CONVERSION"},
    {ErrorClass::disp, MPI_ERR_DISP, "MPI_ERR_DISP"},
    {ErrorClass::dup_datarep, MPI_ERR_DUP_DATAREP, "MPI_ERR_DUP_DATAREP"},
    {ErrorClass::file_exists, MPI_ERR_FILE_EXISTS, "MPI_ERR_FILE_EXISTS"},
    {ErrorClass::file_in_use, MPI_ERR_FILE_IN_USE, "MPI_ERR_FILE_IN_USE"},
    {ErrorClass::file, MPI_ERR_FILE, "MPI_ERR_FILE"},
    {ErrorClass::info_key, MPI_ERR_INFO_KEY, "MPI_ERR_INFO_KEY"},
    {ErrorClass::info_nokey, MPI_ERR_INFO_NOKEY, "MPI_ERR_INFO_NOKEY"},
    {ErrorClass::info_value, MPI_ERR_INFO_VALUE, "MPI_ERR_INFO_VALUE"},
    {ErrorClass::info, MPI_ERR_INFO, "MPI_ERR_INFO"},
    {ErrorClass::io, MPI_ERR_IO, "MPI_ERR_IO"},
    {ErrorClass::keyval, MPI_ERR_KEYVAL, "MPI_ERR_KEYVAL"},
    {ErrorClass::locktype, MPI_ERR_LOCKTYPE, "MPI_ERR_LOCKTYPE"},
    {ErrorClass::name, MPI_ERR_NAME, "MPI_ERR_NAME"},
    {ErrorClass::no_mem, MPI_ERR_NO_MEM, "MPI_ERR_NO_MEM"},
    {ErrorClass::not_same, MPI_ERR_NOT_SAME, "MPI_ERR_NOT_SAME"},
    {ErrorClass::no_space, MPI_ERR_NO_SPACE, "MPI_ERR_NO_SPACE"},
    {ErrorClass::no_such_file, MPI_ERR_NO_SUCH_FILE, "MPI_ERR_NO_SUCH_FILE"},
    {ErrorClass::port, MPI_ERR_PORT, "MPI_ERR_PORT"},
    {ErrorClass::quota, MPI_ERR_QUOTA, "MPI_ERR_QUOTA"},
    {ErrorClass::read_only, MPI_ERR_READ_ONLY, "MPI_ERR_READ_ONLY"},
    {ErrorClass::rma_attach, MPI_ERR_RMA_ATTACH, "MPI_ERR_RMA_ATTACH"},
    {ErrorClass::rma_conflict, MPI_ERR_RMA_CONFLICT, "MPI_ERR_RMA_CONFLICT"},
    {ErrorClass::rma_range, MPI_ERR_RMA_RANGE, "MPI_ERR_RMA_RANGE"},
    {ErrorClass::rma_shared, MPI_ERR_RMA_SHARED, "MPI_ERR_RMA_SHARED"},
    {ErrorClass::rma_sync, MPI_ERR_RMA_SYNC, "MPI_ERR_RMA_SYNC"},
    {ErrorClass::service, MPI_ERR_SERVICE, "MPI_ERR_SERVICE"},
    {ErrorClass::size, MPI_ERR_SIZE, "MPI_ERR_SIZE"},
    {ErrorClass::spawn, MPI_ERR_SPAWN, "MPI_ERR_SPAWN"},
    {ErrorClass::unsupported_datarep, MPI_ERR_UNSUPPORTED_DATAREP, "MPI_ERR_UNSUPPORTED_DATAREP"},
    {ErrorClass::unsupported_operation, MPI_ERR_UNSUPPORTED_OPERATION,
     "MPI_ERR_UNSUPPORTED_OPERATION"},
    {ErrorClass::win, MPI_ERR_WIN, "MPI_ERR_WIN"},
    {ErrorClass::rma_flavor, MPI_ERR_RMA_FLAVOR, "MPI_ERR_RMA_FLAVOR"},
    {ErrorClass::proc_aborted, MPI_ERR_PROC_ABORTED, "MPI_ERR_PROC_ABORTED"},
    {ErrorClass::value_too_large, MPI_ERR_VALUE_TOO_LARGE, "MPI_ERR_VALUE_TOO_LARGE"},
    {ErrorClass::session, MPI_ERR_SESSION, "MPI_ERR_SESSION"},
    {ErrorClass::errhandler, MPI_ERR_ERRHANDLER, "MPI_ERR_ERRHANDLER"},
    {ErrorClass::abi, MPI_ERR_ABI, "MPI_ERR_ABI"},
    {ErrorClass::proc_failed, MPIX_ERR_PROC_FAILED, "MPIX_ERR_PROC_FAILED"},
    {ErrorClass::proc_failed_pending, MPIX_ERR_PROC_FAILED_PENDING, "MPIX_ERR_PROC_FAILED_PENDING"},
    {ErrorClass::revoked, MPIX_ERR_REVOKED, "MPIX_ERR_REVOKED"},
};
static_assert(MPIX_ERR_PROC_FAILED > MPI_T_ERR_PVAR_NO_ATOMIC &&
              MPIX_ERR_REVOKED < MPI_ERR_LASTCODE);

TEST(ErrorClasses, equal_those_of_the_header) {
  for (const NamedClass& entry : classes) {
    EXPECT_EQ(static_cast<int>(entry.error_class), entry.value) << entry.name;
    EXPECT_STREQ(fulmar::base::error_class_name(entry.error_class), entry.name);
  }
}

TEST(ErrorClasses, all_are_there) {
  // Those of the standard are numbered from 0 on, those of mpi-ext.h from the first of them on.
  constexpr std::size_t standard = 63;
  EXPECT_EQ(std::size(classes), standard + 3);
  for (std::size_t i = 0; i < std::size(classes); ++i) {
    const std::size_t value = i < standard ? i : MPIX_ERR_PROC_FAILED + (i - standard);
    EXPECT_EQ(classes[i].value, static_cast<int>(value)) << classes[i].name;
  }
}

}  // namespace
