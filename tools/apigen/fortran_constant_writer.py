# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Constants in Fortran: mpif.h and the modules mpi_abi_constants and mpi_f08_types."""

from fortran_reader import HANDLES, SENTINELS

FREE_HEADER = '''! Written by tools/apigen from spec/. Do not edit.
! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
'''

# Name in Fortran, value. Indices count from 1; lengths of strings have no zero byte.
OWN_CONSTANTS = (
    ('MPI_ADDRESS_KIND', 8), ('MPI_COUNT_KIND', 8), ('MPI_OFFSET_KIND', 8), ('MPI_INTEGER_KIND', 4),
    ('MPI_STATUS_SIZE', 8), ('MPI_SOURCE', 1), ('MPI_TAG', 2), ('MPI_ERROR', 3))

# What MPI 3.0 removed: for mpif.h and the module mpi; see include/fulmar/mpi_removed.h.
REMOVED_CONSTANTS = (
    ('MPI_LB', 0x4f0), ('MPI_UB', 0x4f1), ('MPI_COMBINER_HVECTOR_INTEGER', -105),
    ('MPI_COMBINER_HINDEXED_INTEGER', -107), ('MPI_COMBINER_STRUCT_INTEGER', -110))


def _value(values, member):
    return values[member[2]] if len(member) == 3 else int(member[1], 0)


def constants(spec):
    """(name, value, C type) of every constant that is a number in Fortran."""
    for name, value in OWN_CONSTANTS:
        yield name, value, 'int'
    values = {}
    for group in spec.constants:
        for member in group.members:
            values[member[0]] = _value(values, member)
        if group.ctype not in HANDLES | {'int', 'MPI_Offset'}:
            continue
        for name, *_ in group.members:
            if name.startswith(('MPI_T_', 'MPI_F_')):
                continue
            value = values[name] - (1 if name.startswith('MPI_MAX_') else 0)
            yield name, value, group.ctype


def _integer_kind(ctype):
    return 'integer(kind=MPI_OFFSET_KIND)' if ctype == 'MPI_Offset' else 'integer'


def write_constants(spec):
    """The module mpi_abi_constants: what mpi and mpi_f08 share."""
    lines = [FREE_HEADER, 'module mpi_abi_constants', '  use, intrinsic :: iso_c_binding, only: c_char, c_int',
             '  implicit none', '  public',
             '  private :: c_char, c_int',
             '  ! A default INTEGER of 8 bytes does not fit the handles and statuses of the ABI.',
             '  integer, parameter, private :: default_INTEGER_must_have_4_bytes = 1 / merge(1, 0, kind(0) == 4)']
    lines += [f'  {_integer_kind(ctype)}, parameter :: {name} = {value}'
              for name, value, ctype in constants(spec) if ctype not in HANDLES]
    for name, shape in SENTINELS:
        target = name.replace('MPI_', 'mpifort_abi_').lower()
        lines.append(f"  integer(c_int), bind(c, name='{target}') :: {name}{shape}")
    lines += ["  character(kind=c_char), bind(c, name='mpifort_abi_argv_null') :: MPI_ARGV_NULL(1)",
              "  character(kind=c_char), bind(c, name='mpifort_abi_argvs_null') :: MPI_ARGVS_NULL(1, 1)",
              'end module mpi_abi_constants', '']
    return '\n'.join(lines)


def write_mpi_handles(spec):
    """Lines of the module mpi: handles are integers there."""
    lines = [f'  integer, parameter :: {name} = {value}'
             for name, value, ctype in constants(spec) if ctype in HANDLES]
    lines += [f'  integer, parameter :: {name} = {value}' for name, value in REMOVED_CONSTANTS]
    return lines + [
        "  integer(c_int), bind(c, name='mpifort_abi_status_ignore') :: MPI_STATUS_IGNORE(MPI_STATUS_SIZE)",
        "  integer(c_int), bind(c, name='mpifort_abi_statuses_ignore') :: "
        'MPI_STATUSES_IGNORE(MPI_STATUS_SIZE, 1)',
        '  logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .false.',
        '  logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = .false.']


def _operator_lines(handles):
    for operator, name in (('==', 'eq'), ('/=', 'ne')):
        yield f'  interface operator({operator})'
        for handle in handles:
            function = f'mpifort_{handle[len("MPI_"):].lower()}_{name}'
            yield from (f'    pure function {function}(one, other) result(answer)',
                        f'      import :: {handle}',
                        '      implicit none',
                        f'      type({handle}), intent(in) :: one, other',
                        '      logical :: answer', f'    end function {function}')
        yield '  end interface'


def write_f08_types():
    """The module mpi_f08_types: derived types and their operators, also for the module mpi."""
    handles = sorted(HANDLES)
    lines = [FREE_HEADER, 'module mpi_f08_types', '  implicit none', '  public']
    for handle in handles:
        lines += [f'  type, bind(c) :: {handle}', '    integer :: MPI_VAL', f'  end type {handle}']
    lines += ['  type, bind(c) :: MPI_Status', '    integer :: MPI_SOURCE', '    integer :: MPI_TAG',
              '    integer :: MPI_ERROR', '    integer :: MPI_internal(5)', '  end type MPI_Status']
    lines += [*_operator_lines(handles), 'end module mpi_f08_types', '']
    return '\n'.join(lines)


def write_f08_handles(spec):
    """Lines of the module mpi_f08."""
    lines = [f'  type({ctype}), parameter :: {name} = {ctype}({value})'
             for name, value, ctype in constants(spec) if ctype in HANDLES]
    return lines + [
        "  type(MPI_Status), bind(c, name='mpifort_abi_f08_status_ignore') :: MPI_STATUS_IGNORE",
        "  type(MPI_Status), bind(c, name='mpifort_abi_f08_statuses_ignore') :: MPI_STATUSES_IGNORE(1)",
        '  logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .true.',
        '  logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = .true.']


# mpif.h: lines that are valid in fixed and in free form start in column 7 and end in column 72. None goes on in
# the next line: the & in column 73 that fixed form does not see is text where its lines are longer
# (-ffixed-line-length-132).

def _both_forms(line):
    assert len(line) <= 66, line
    return '      ' + line


def write_mpif(spec):
    lines = ['! Written by tools/apigen from spec/. Do not edit.',
             '! SPDX-License-Identifier: BSD-3-Clause',
             '! Copyright (c) 2026 the Fulmar authors', '!',
             '! Constants of MPI 5.0 for Fortran without modules; valid in fixed and in free form.',
             '! MPI 4.1 deprecates this file; `use mpi_f08` is what new programs use.', '!',
             '! A default INTEGER of 8 bytes does not fit the handles and statuses of the ABI:']

    def add(line):
        lines.append(_both_forms(line))

    add('INTEGER MPI_NEEDS_INTEGER_OF_4_BYTES')
    add('PARAMETER (MPI_NEEDS_INTEGER_OF_4_BYTES = 1/MAX(5-KIND(0),0))')
    for name, value, ctype in constants(spec):
        if name in ('MPI_ADDRESS_KIND', 'MPI_COUNT_KIND', 'MPI_OFFSET_KIND') or ctype != 'MPI_Offset':
            add(f'INTEGER {name}')
        else:
            add(f'INTEGER(KIND=MPI_OFFSET_KIND) {name}')
        add(f'PARAMETER ({name}={value})')
    for name, value in REMOVED_CONSTANTS:
        add(f'INTEGER {name}')
        add(f'PARAMETER ({name}={value})')
    for name, value in (('MPI_SUBARRAYS_SUPPORTED', '.FALSE.'),
                        ('MPI_ASYNC_PROTECTS_NONBLOCKING', '.FALSE.')):
        add(f'LOGICAL {name}')
        add(f'PARAMETER ({name}={value})')
    lines.append('! Recognised by their addresses.')
    for name, shape in SENTINELS:
        add(f'INTEGER {name}{shape}')
    add('INTEGER MPI_STATUS_IGNORE(MPI_STATUS_SIZE)')
    add('INTEGER MPI_STATUSES_IGNORE(MPI_STATUS_SIZE,1)')
    add('CHARACTER MPI_ARGV_NULL(1)')
    add('CHARACTER MPI_ARGVS_NULL(1,1)')
    add('CHARACTER MPIFORT_ABI_UNUSED(2)')
    names = [name for name, _ in SENTINELS] + [
        'MPI_STATUS_IGNORE', 'MPI_STATUSES_IGNORE', 'MPI_ARGV_NULL', 'MPI_ARGVS_NULL',
        'MPIFORT_ABI_UNUSED']
    for name in names:
        add(f'COMMON /MPIFORT_ABI/ {name}')
    add('BIND(C, NAME="mpifort_abi_sentinels") :: /MPIFORT_ABI/')
    lines.append('! Functions, and procedures that are passed as arguments.')
    for prefix in ('', 'P'):
        for name in ('MPI_WTIME', 'MPI_WTICK'):
            # As DOUBLE PRECISION is but with -fdefault-real-8, which makes it 16 bytes.
            add(f'REAL(KIND=SELECTED_REAL_KIND(15,307)) {prefix}{name}')
            add(f'EXTERNAL {prefix}{name}')
        for name in ('MPI_AINT_ADD', 'MPI_AINT_DIFF'):
            add(f'INTEGER(KIND=MPI_ADDRESS_KIND) {prefix}{name}')
            add(f'EXTERNAL {prefix}{name}')
    for kind in ('', 'COMM_', 'TYPE_', 'WIN_'):
        for name in ('NULL_COPY_FN', 'DUP_FN', 'NULL_DELETE_FN'):
            add(f'EXTERNAL MPI_{kind}{name}')
    add('EXTERNAL MPI_CONVERSION_FN_NULL')
    return '\n'.join(lines) + '\n'
