// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/file_head.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

namespace fulmar::mpiexec {
namespace {

struct MachineName {
  unsigned number;
  std::string_view name;  ///< as uname prints it
};
constexpr std::array machine_names = {
    MachineName{EM_386, "i686"},        MachineName{EM_X86_64, "x86_64"},
    MachineName{EM_ARM, "arm"},         MachineName{EM_AARCH64, "aarch64"},
    MachineName{EM_PPC, "ppc"},         MachineName{EM_PPC64, "ppc64"},
    MachineName{EM_S390, "s390x"},      MachineName{EM_RISCV, "riscv64"},
    MachineName{EM_SPARCV9, "sparc64"}, MachineName{EM_MIPS, "mips"},
    MachineName{258, "loongarch64"},
};

std::string machine_name(unsigned number) {
  for (const MachineName& entry : machine_names) {
    if (entry.number == number) return std::string(entry.name);
  }
  return "machine number " + std::to_string(number);
}

/// Where the file's machine stands in a header of both widths: 16 bits, in the file's byte order.
constexpr std::size_t machine_at = 18;

}  // namespace

void FileHead::read_from(const char* file) {
  size_ = 0;
  const int fd = ::open(file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  const ssize_t count = ::read(fd, bytes_.data(), bytes_.size());
  if (count > 0) size_ = static_cast<std::size_t>(count);
  ::close(fd);
}

void FileHead::set(std::string_view bytes) { size_ = bytes.copy(bytes_.data(), bytes_.size()); }

bool FileHead::is_elf() const { return bytes().starts_with(std::string_view(ELFMAG, SELFMAG)); }

bool FileHead::is_script() const {
  const std::string_view line = bytes().substr(0, bytes().find('\n'));
  const bool names_interpreter =
      line.starts_with("#!") && line.find_first_not_of(" \t\r", 2) != std::string_view::npos;
  return !is_elf() && !names_interpreter && line.find('\0') == std::string_view::npos;
}

std::string FileHead::why_refused() const {
  utsname self{};
  ::uname(&self);
  const std::string_view here = self.machine;
  const std::string cannot = ", which this machine (" + std::string(here) + ") cannot execute";
  if (bytes().starts_with("#!")) return "its first line names an interpreter" + cannot;
  if (!is_elf()) return "it is binary data and no program for this machine; name another file";
  if (size_ < machine_at + 2) return "it is the beginning of an ELF file; build or copy it again";
  const auto low = static_cast<unsigned char>(bytes_[machine_at]);
  const auto high = static_cast<unsigned char>(bytes_[machine_at + 1]);
  const bool big_endian = bytes_[EI_DATA] == ELFDATA2MSB;
  const std::string machine = machine_name(big_endian ? low * 256U + high : high * 256U + low);
  if (machine == here) {
    return "it is an ELF file for " + machine + ", but no whole program; link or copy it again";
  }
  return "it is an ELF file for " + machine + cannot + "; build it for this one";
}

}  // namespace fulmar::mpiexec
