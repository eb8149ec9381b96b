// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/error_class.h"

#include <array>
#include <cstddef>

#include "base/error.h"

namespace fulmar::base {
namespace {

struct Description {
  const char* name;
  const char* text;
};

/// Indexed by class value.
constexpr std::array descriptions{
    Description{"MPI_SUCCESS", "no error"},
    Description{"MPI_ERR_BUFFER", "invalid buffer pointer"},
    Description{"MPI_ERR_COUNT", "invalid count"},
    Description{"MPI_ERR_TYPE", "invalid datatype"},
    Description{"MPI_ERR_TAG", "invalid tag"},
    Description{"MPI_ERR_COMM", "invalid communicator"},
    Description{"MPI_ERR_RANK", "invalid rank"},
    Description{"MPI_ERR_REQUEST", "invalid request"},
    Description{"MPI_ERR_ROOT", "invalid root"},
    Description{"MPI_ERR_GROUP", "invalid group"},
    Description{"MPI_ERR_OP", "invalid reduction operation"},
    Description{"MPI_ERR_TOPOLOGY", "invalid topology"},
    Description{"MPI_ERR_DIMS", "invalid dimensions"},
    Description{"MPI_ERR_ARG", "invalid argument"},
    Description{"MPI_ERR_UNKNOWN", "unknown error"},
    Description{"MPI_ERR_TRUNCATE", "message longer than the receive buffer"},
    Description{"MPI_ERR_OTHER", "an error without a class of its own"},
    Description{"MPI_ERR_INTERN", "internal error of the MPI library"},
    Description{"MPI_ERR_PENDING", "the request is still pending"},
    Description{"MPI_ERR_IN_STATUS", "the error is in the status array"},
    Description{"MPI_ERR_ACCESS", "permission denied"},
    Description{"MPI_ERR_AMODE", "invalid file access mode"},
    Description{"MPI_ERR_ASSERT", "invalid assertion argument"},
    Description{"MPI_ERR_BAD_FILE", "invalid file name"},
    Description{"MPI_ERR_BASE", "invalid base of a window"},
    Description{"MPI_ERR_CONVERSION", "a data conversion function failed"},
    Description{"MPI_ERR_DISP", "invalid displacement"},
    Description{"MPI_ERR_DUP_DATAREP", "the data representation is already registered"},
    Description{"MPI_ERR_FILE_EXISTS", "the file exists"},
    Description{"MPI_ERR_FILE_IN_USE", "the file is open"},
    Description{"MPI_ERR_FILE", "invalid file handle"},
    Description{"MPI_ERR_INFO_KEY", "invalid or too long info key"},
    Description{"MPI_ERR_INFO_NOKEY", "no such info key"},
    Description{"MPI_ERR_INFO_VALUE", "invalid or too long info value"},
    Description{"MPI_ERR_INFO", "invalid info object"},
    Description{"MPI_ERR_IO", "input or output failed"},
    Description{"MPI_ERR_KEYVAL", "invalid attribute key"},
    Description{"MPI_ERR_LOCKTYPE", "invalid lock type"},
    Description{"MPI_ERR_NAME", "service name not found"},
    Description{"MPI_ERR_NO_MEM", "out of memory"},
    Description{"MPI_ERR_NOT_SAME", "arguments differ between the ranks"},
    Description{"MPI_ERR_NO_SPACE", "no space left"},
    Description{"MPI_ERR_NO_SUCH_FILE", "no such file"},
    Description{"MPI_ERR_PORT", "invalid port name"},
    Description{"MPI_ERR_QUOTA", "quota exceeded"},
    Description{"MPI_ERR_READ_ONLY", "the file or file system is read-only"},
    Description{"MPI_ERR_RMA_ATTACH", "memory cannot be attached to the window"},
    Description{"MPI_ERR_RMA_CONFLICT", "conflicting accesses to a window"},
    Description{"MPI_ERR_RMA_RANGE", "target memory is not part of the window"},
    Description{"MPI_ERR_RMA_SHARED", "memory cannot be shared"},
    Description{"MPI_ERR_RMA_SYNC", "wrong synchronization of one-sided calls"},
    Description{"MPI_ERR_SERVICE", "invalid service name"},
    Description{"MPI_ERR_SIZE", "invalid size"},
    Description{"MPI_ERR_SPAWN", "processes cannot be spawned"},
    Description{"MPI_ERR_UNSUPPORTED_DATAREP", "unsupported data representation"},
    Description{"MPI_ERR_UNSUPPORTED_OPERATION", "unsupported operation"},
    Description{"MPI_ERR_WIN", "invalid window"},
    Description{"MPI_ERR_RMA_FLAVOR", "the window has the wrong flavor"},
    Description{"MPI_ERR_PROC_ABORTED", "a process of the job has aborted"},
    Description{"MPI_ERR_VALUE_TOO_LARGE", "the value does not fit the output argument"},
    Description{"MPI_ERR_SESSION", "invalid session"},
    Description{"MPI_ERR_ERRHANDLER", "invalid error handler"},
    Description{"MPI_ERR_ABI", "ABI mismatch"},
};
static_assert(descriptions.size() == static_cast<std::size_t>(ErrorClass::abi) + 1);

/// From `first_extension` on.
constexpr std::array extensions{
    Description{"MPIX_ERR_PROC_FAILED", "a process that the operation needs has failed"},
    Description{"MPIX_ERR_PROC_FAILED_PENDING",
                "a process that could match the receive has failed; the receive is still pending"},
    Description{"MPIX_ERR_REVOKED", "the communicator has been revoked"},
};
constexpr auto first_extension = static_cast<std::size_t>(ErrorClass::proc_failed);
static_assert(first_extension + extensions.size() ==
              static_cast<std::size_t>(ErrorClass::revoked) + 1);

const Description& describe(ErrorClass error_class) {
  const auto index = static_cast<std::size_t>(static_cast<std::uint32_t>(error_class));
  if (is_extension(error_class)) return extensions[index - first_extension];
  if (index >= descriptions.size()) {
    return descriptions[static_cast<std::size_t>(ErrorClass::unknown)];
  }
  return descriptions[index];
}

}  // namespace

const char* error_class_name(ErrorClass error_class) noexcept { return describe(error_class).name; }

const char* error_class_text(ErrorClass error_class) noexcept { return describe(error_class).text; }

}  // namespace fulmar::base
