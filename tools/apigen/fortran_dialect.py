# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""How programs call the Fortran bindings of one ABI: the names of procedures, and how choice buffers are passed.

Names of mpif.h and the module mpi are the same in all. The differences are those of mpi_f08.
"""

import fnmatch


def manglings(name):
    """What Fortran compilers make of a name: gfortran and flang, g77, none, capitals."""
    lower = name.lower()
    return [lower + '_', lower + '__', lower, name.upper()]


class Standard:
    """libmpifort_abi.so.1. mpi_f08 passes descriptors of TS 29113 to C names; strings beside them are descriptors,
    too. Its other procedures have names that compilers mangle."""

    name = 'standard'
    descriptor = 'Descriptor'
    strings_have_descriptors = True
    has_own_extras = True

    def has(self, _procedure):
        return True

    def other_names(self, _procedure):
        return []

    def in_plain_body(self, procedure):
        """Whether the body for mpif.h serves mpi_f08, too."""
        return not procedure.has_choice

    def f08_names(self, procedure):
        """(PMPI names, MPI names) in mpi_f08 of a procedure without descriptors, as symbols."""
        return manglings('P' + procedure.specific), manglings(procedure.specific)

    def descriptor_names(self, procedure):
        return ['P' + procedure.specific], [procedure.specific]


class _Foreign:
    """Procedures of another MPI: those that its C library has."""

    strings_have_descriptors = False
    has_own_extras = False

    def __init__(self, abi):
        self.abi = abi
        self.name = abi.name

    def has(self, procedure):
        return (self.abi.has(procedure.name) or
                any(fnmatch.fnmatchcase(procedure.name, name) for name in self.only_fortran))

    def other_names(self, procedure):
        """Names in C of the same procedure, from before MPI had it."""
        return [name for name, same in self.abi.same if same == procedure.name]

    def in_plain_body(self, procedure):
        return self.descriptor is None or not procedure.has_choice


class Mpich(_Foreign):
    """MPICH: choice buffers of mpi_f08 are passed as the compiler's own descriptors, under mangled names. Large forms
    end in _large up to MPICH 4.1 and have _c in the middle since."""

    descriptor = 'NativeDescriptor'
    only_fortran = ()

    @staticmethod
    def _symbols(procedure, suffix):
        base = procedure.generic.lower()
        stems = [f'{base}{suffix}']
        if procedure.name.startswith('MPI_Remove_error_'):
            stems.append(f'{base.replace("remove", "delete")}{suffix}')
        elif procedure.is_large:
            stems = [f'{base}_c{suffix}', f'{base}{suffix}_large']
        return ([f'pmpir{stem[3:]}_' for stem in stems], [f'{stem}_' for stem in stems])

    def f08_names(self, procedure):
        return self._symbols(procedure, '_f08')

    def descriptor_names(self, procedure):
        return self._symbols(procedure, '_f08ts')


class OpenMpi(_Foreign):
    """Open MPI 4 and 5: buffers are addresses in mpi_f08, too."""

    descriptor = None
    only_fortran = ('MPI_Aint_add', 'MPI_Aint_diff')

    def f08_names(self, procedure):
        stems = [f'{name.lower()}_f08_' for name in (procedure.name, *self.other_names(procedure))]
        return ['p' + stem for stem in stems], stems


def foreign(abi):
    return {'mpich': Mpich, 'openmpi': OpenMpi}[abi.name](abi)
