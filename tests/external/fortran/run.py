# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""A Fortran program of Fulmar's mpifort on MPICH's library for the standard ABI, which mpi4py/prepare.py has installed."""

import os
import pathlib
import shutil
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / name) for name in ("", "mpi4py")]
import prepare  # noqa: E402
import support  # noqa: E402

PROGRAM = """\
include 'mpif.h'
integer :: rank, sum, error, length
character(MPI_MAX_LIBRARY_VERSION_STRING) :: text
logical :: started
call MPI_INIT(error)
call MPI_INITIALIZED(started, error)
call MPI_COMM_RANK(MPI_COMM_WORLD, rank, error)
call MPI_ALLREDUCE(rank + 1, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
call MPI_GET_LIBRARY_VERSION(text, length, error)
if (rank == 0) print *, text(1:5), started, sum
call MPI_FINALIZE(error)
end
"""


def main():
    library = prepare.PEER / "lib"
    if not shutil.which(os.environ.get("FULMAR_FC", "gfortran")):
        support.skip("there is no gfortran (or FULMAR_FC)")
    if not (library / "libmpi_abi.so.1").exists():
        support.skip("mpi4py/prepare.py has installed no MPICH (see its own output)")
    with tempfile.TemporaryDirectory(prefix="fulmar-fortran-") as folder:
        source, program = pathlib.Path(folder) / "sum.f90", pathlib.Path(folder) / "sum"
        source.write_text(PROGRAM)
        status, output, _ = support.run([support.BIN / "mpifort", source, "-o", program], 120)
        if status == 0:
            command = [prepare.PEER / "bin" / "mpiexec", "-n", "2", program]
            status, output, _ = support.run(command, 120, support.clean_environment(LD_LIBRARY_PATH=library))
    print(output)
    return 0 if status == 0 and output.split() == ["MPICH", "T", "3"] else 1


if __name__ == "__main__":
    sys.exit(main())
