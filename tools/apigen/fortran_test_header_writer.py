# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Writes an mpif.h of another ABI, for our tests: the facts of the tables as Fortran, and no more than these."""

import fortran_constant_writer
from fortran_reader import HANDLES

# Common blocks of constants that are known by their addresses: name, members.
_BLOCKS = {
    'mpich': (('MPIFCMB5', ('MPI_UNWEIGHTED',)), ('MPIFCMB9', ('MPI_WEIGHTS_EMPTY',)),
              ('MPIPRIV1', ('MPI_BOTTOM', 'MPI_IN_PLACE', 'MPI_STATUS_IGNORE')),
              ('MPIPRIV2', ('MPI_STATUSES_IGNORE', 'MPI_ERRCODES_IGNORE')),
              ('MPIPRIVC', ('MPI_ARGVS_NULL', 'MPI_ARGV_NULL'))),
    'openmpi': tuple((f'mpi_fortran_{name}', (f'MPI_{name.upper()}',)) for name in (
        'bottom', 'in_place', 'argv_null', 'argvs_null', 'errcodes_ignore', 'status_ignore', 'statuses_ignore',
        'unweighted', 'weights_empty'))}
_SHAPES = {'MPI_STATUS_IGNORE': '(MPI_STATUS_SIZE)', 'MPI_STATUSES_IGNORE': '(MPI_STATUS_SIZE,1)',
           'MPI_ERRCODES_IGNORE': '(1)', 'MPI_UNWEIGHTED': '(1)', 'MPI_WEIGHTS_EMPTY': '(1)'}
_SIGNED = 1 << 31


def _positions(abi):
    """Where the fields of a status are in Fortran."""
    fields = [name for _, name in abi.status]
    for name in ('MPI_SOURCE', 'MPI_TAG', 'MPI_ERROR'):
        yield name, fields.index(name) + 1


def _numbers(spec, abi):
    numbers = dict(abi.values)
    numbers.update({name: number - 2 * _SIGNED if number >= _SIGNED else number for name, number in abi.handles.items()})
    numbers.update({name: int(number) for name, _, _, number in abi.objects if number != '-'})
    numbers['MPI_FILE_NULL'] = 0
    for group in spec.constants:
        for member in group.members:
            if member[1] == '=' and member[2] in numbers:
                numbers[member[0]] = numbers[member[2]]
    return numbers


def _constants(spec, abi):
    """(name, value, C type)"""
    numbers = _numbers(spec, abi)
    own = {name: value for name, value in fortran_constant_writer.OWN_CONSTANTS if name.endswith('_KIND')}
    own.update(_positions(abi), MPI_STATUS_SIZE=abi.values['MPI_F_STATUS_SIZE'])
    keyvals = {name for group in spec.constants for name, *_ in group.members if numbers.get(name, 0) > 0x60000000
               and abi.name == 'mpich' and group.ctype == 'int'}
    for name, _, ctype in fortran_constant_writer.constants(spec):
        if name in own:
            yield name, own[name], ctype
        elif name in numbers:
            shift = -1 if name.startswith('MPI_MAX_') else 1 if name in keyvals else 0
            yield name, numbers[name] + shift, ctype
    for name in ('MPI_LB', 'MPI_UB'):
        yield name, numbers[name], 'MPI_Datatype'


def write_mpif(spec, abi):
    lines = ['! Written by tools/apigen from spec/, for tests. Do not edit.',
             '! SPDX-License-Identifier: BSD-3-Clause', '! Copyright (c) 2026 the Fulmar authors']
    for name, value, ctype in _constants(spec, abi):
        kind = '(KIND=MPI_OFFSET_KIND)' if ctype == 'MPI_Offset' and ctype not in HANDLES else ''
        lines += [f'      INTEGER{kind} {name}', f'      PARAMETER ({name}={value})']
    for block, members in _BLOCKS[abi.name]:
        for name in members:
            if name.startswith('MPI_ARGV'):
                lines.append(f'      CHARACTER {name}{"(1)" if name == "MPI_ARGV_NULL" else "(1,1)"}')
            else:
                lines.append(f'      INTEGER {name}{_SHAPES.get(name, "")}')
        lines.append(f'      COMMON /{block}/ {", ".join(members)}')
    for name in ('MPI_WTIME', 'MPI_WTICK', 'PMPI_WTIME', 'PMPI_WTICK'):
        lines += [f'      DOUBLE PRECISION {name}', f'      EXTERNAL {name}']
    for name in ('MPI_AINT_ADD', 'MPI_AINT_DIFF'):
        lines += [f'      INTEGER(KIND=MPI_ADDRESS_KIND) {name}', f'      EXTERNAL {name}']
    for kind in ('', 'COMM_', 'TYPE_', 'WIN_'):
        lines.append('      EXTERNAL ' + ', '.join(
            f'MPI_{kind}{name}' for name in ('NULL_COPY_FN', 'DUP_FN', 'NULL_DELETE_FN')))
    lines.append('      EXTERNAL MPI_CONVERSION_FN_NULL')
    return '\n'.join(lines) + '\n'
