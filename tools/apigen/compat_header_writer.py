# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Writes an mpi.h of another ABI, for our tests: the facts of the tables as C, and no more than these."""

import compat_reader
import header_writer
import prototypes

_HEAD = '''\
/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * mpi.h with the ABI of spec/abi_{name}.table, for the tests. Generated; do not edit. */
#ifndef FULMAR_TEST_MPI_H
#define FULMAR_TEST_MPI_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {{
#endif
'''

_TAIL = '''
#ifdef __cplusplus
}
#endif
#endif
'''


def _types(spec, abi):
    lines = []
    for sort, name, definition in spec.types:
        if sort == 'integer':
            lines.append(f'typedef {definition} {name};')
        elif name in abi.types:
            kind = abi.types[name]
            lines.append(f'typedef {kind if kind in ("int", "void*") else "struct " + kind} {name};')
        else:
            lines.append(f'typedef struct {definition}* {name};')
    fields = ' '.join(f'{kind} {name};' for kind, name in abi.status)
    return lines + [f'typedef struct MPI_Status {{ {fields} }} MPI_Status;',
                    'typedef MPI_Status MPI_F08_status;', 'typedef int MPI_Fint;']


def _handles(spec, abi):
    standard = compat_reader.standard_values(spec)
    kinds = {name: kind for name, (_, kind) in standard.items()}
    kinds.update(MPI_LB='MPI_Datatype', MPI_UB='MPI_Datatype')
    lines = [f'#define {name} (({kinds[name]})0x{number:08x})' for name, number in abi.handles.items()]
    for name, symbol, _, _ in abi.objects:
        lines.append(f'extern struct fulmar_test_object {symbol};')
        if name != '-':
            lines.append(f'#define {name} (({kinds[name]})(void*)&{symbol})')
    return lines


_POINTERS = ('void*', 'char**', 'char***', 'int*', 'MPI_Status*')


def _constants(spec, abi):
    standard = compat_reader.standard_values(spec)
    lines, enums = [], [group for group in spec.constants
                        if group.form == 'enum' and group.ctype != 'int']
    for group in enums:
        members = [m[0] for m in group.members if m[0] in abi.values]
        body = ', '.join(f'{name} = {abi.values[name]}' for name in members) or f'{group.ctype}_none'
        lines.append(f'typedef enum {group.ctype} {{ {body} }} {group.ctype};')
    known = {member[0] for group in enums for member in group.members}
    for name, value in abi.values.items():
        kind = standard.get(name, (0, 'int'))[1]  # MPIX_ constants are numbers
        if name in known:
            continue
        if kind in _POINTERS:
            lines.append(f'#define {name} (({kind}){value})')
        elif kind == 'MPI_Offset':
            lines.append(f'#define {name} ((MPI_Offset){value})')
        else:
            lines.append(f'#define {name} ({value})')
    for group in spec.constants:  # other names of the same
        for member in group.members:
            if member[1] == '=':
                lines.append(f'#define {member[0]} {member[2]}')
    lines += ['#define MPI_ARGV_NULL ((char**)0)', '#define MPI_ARGVS_NULL ((char***)0)',
              '#define MPI_T_ENUM_NULL ((MPI_T_enum)0)',
              '#define MPI_T_CVAR_HANDLE_NULL ((MPI_T_cvar_handle)0)',
              '#define MPI_T_PVAR_SESSION_NULL ((MPI_T_pvar_session)0)',
              '#define MPI_T_PVAR_HANDLE_NULL ((MPI_T_pvar_handle)0)',
              '#define MPI_CONVERSION_FN_NULL ((MPI_Datarep_conversion_function*)0)',
              '#define MPI_CONVERSION_FN_NULL_C ((MPI_Datarep_conversion_function_c*)0)']
    return lines


def _functions(spec, rules, abi):
    lines = []
    for prefix in ('', 'P'):
        for symbol in abi.symbols(spec):
            lines.append(prototypes.prototype(spec, symbol, prefix) + ';')
        for extra in rules.extras + abi.extras:
            parameters = ', '.join(f'{kind} {name}' for kind, name in extra.parameters) or 'void'
            lines.append(f'{extra.result} {prefix}{extra.name}({parameters});')
    return [prototypes.wrap(line) for line in lines]


def write_test_header(spec, rules, abi):
    lines = [_HEAD.format(name=abi.name), *_types(spec, abi), '', *_handles(spec, abi), '',
             *_constants(spec, abi), *header_writer.write_callbacks(spec), '', *abi.declarations, '',
             *_functions(spec, rules, abi), _TAIL]
    return '\n'.join(lines)
