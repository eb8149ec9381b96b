# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Writes mpi.h."""

import textwrap

import prototypes

_HEAD = '''\
/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * mpi.h: the C interface of MPI 5.0 with the standard ABI (chapter 20). Generated; do not edit.
 *
 * A program compiled with this header runs with every library that implements the standard ABI
 * (libmpi_abi.so.1), and the other way round. Define MPI_WARN_DEPRECATED to be warned of functions
 * that the standard deprecates. */
#ifndef MPI_H_ABI
#define MPI_H_ABI

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(MPI_WARN_DEPRECATED) && (defined(__GNUC__) || defined(__clang__))
#define MPI_ABI_DEPRECATED_(since) __attribute__((deprecated("deprecated since MPI " since)))
#else
#define MPI_ABI_DEPRECATED_(since)
#endif
'''

_STATUS = '''\
/* What a receive, a probe or a completed request says about its message. */
typedef struct MPI_Status {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int MPI_internal[5];
} MPI_Status;
'''

_TAIL = '''
#ifdef __cplusplus
}
#endif

/* ---- What programs call and the standard ABI does not have; inline over the functions above ---- */

/* MPI_Fint, MPI_Comm_c2f and the like */
#ifndef FULMAR_NO_FORTRAN_HANDLES
#include "fulmar/mpi_fortran_handles.h"
#endif

/* MPI_Address, MPI_Type_struct and what else MPI 3.0 removed */
#ifndef FULMAR_NO_REMOVED_NAMES
#include "fulmar/mpi_removed.h"
#endif

#endif /* MPI_H_ABI */
'''


def _types(spec):
    lines = ['', '/* Integers and handles. A handle is a small constant or a pointer. */']
    for sort, name, definition in spec.types:
        if sort == 'integer':
            lines.append(f'typedef {definition} {name};')
        else:
            lines.append(f'typedef struct {definition}* {name};')
    return lines


def _enumerators(group):
    width = max(len(member[0]) for member in group.members)
    body = [f'  {member[0]:{width}} = {member[-1]}' for member in group.members]
    head = f'typedef enum {group.ctype}' if group.ctype != 'int' else 'enum'
    tail = f'}} {group.ctype};' if group.ctype != 'int' else '};'
    return [head + ' {', ',\n'.join(body), tail]


def _defines(group):
    lines = []
    for member in group.members:
        if member[1] == '=':
            value = member[2]
        elif group.ctype == 'int':
            value = member[1]
        else:
            value = f'(({group.ctype}){member[1]})'
        lines.append(f'#define {member[0]} {value}')
    return lines


def _constants(spec):
    lines = []
    for group in spec.constants:
        lines += ['', f'/* {group.title} */']
        lines += _enumerators(group) if group.form == 'enum' else _defines(group)
    return lines


def write_callbacks(spec):
    lines = ['', '/* Functions of the program that MPI calls. */']
    for callback in spec.callbacks:
        if callback.alias:
            lines.append(f'typedef {callback.alias} {callback.name};')
            continue
        arguments = ', '.join(name if name == '...' else f'{kind} {name}'
                              for name, kind in callback.parameters)
        result = callback.attributes['returns']
        lines.append(prototypes.wrap(f'typedef {result} {callback.name}({arguments});'))
    return lines


def _wrap(text):
    return '\n'.join(textwrap.wrap(text, 100, subsequent_indent='    ', break_long_words=False,
                                   break_on_hyphens=False))


def _comment(spec, symbol):
    """What a reader wants at the prototype: where it is described, and what goes in and out."""
    function = symbol.function
    flow = {'in': [], 'out': [], 'inout': []}
    for parameter in function.parameters:
        flow[parameter.direction].append(parameter.name)
    parts = [f'{label} {", ".join(flow[key])}'
             for key, label in (('in', 'in'), ('inout', 'in and out'), ('out', 'out')) if flow[key]]
    since = function.attributes['since'].replace('1.x', '1')
    text = f'MPI 5.0 chapter {function.chapter.number}; since MPI {since}.'
    if symbol.is_large:
        text = f'{function.name} with large counts. MPI 5.0 chapter {function.chapter.number}.'
    if parts:
        text += ' ' + '; '.join(parts) + '.'
    if function.has('deprecated'):
        text += f' Deprecated since MPI {function.attributes["deprecated"]}.'
    return _wrap('/* ' + text + ' */')


def _deprecation(function):
    if not function.has('deprecated'):
        return ''
    return f' MPI_ABI_DEPRECATED_("{function.attributes["deprecated"]}")'


def _functions(spec):
    lines, chapter, all_symbols = [], None, list(prototypes.symbols(spec))
    for symbol in all_symbols:
        if symbol.function.chapter is not chapter:
            chapter = symbol.function.chapter
            lines += ['', f'/* ---- {chapter.title} ---- */', '']
        lines.append(_comment(spec, symbol))
        lines.append(prototypes.wrap(prototypes.prototype(spec, symbol) +
                                     _deprecation(symbol.function) + ';'))
    lines += ['', '/* ---- The same functions for tools that put themselves in between ---- */', '']
    for symbol in all_symbols:
        lines.append(prototypes.wrap(prototypes.prototype(spec, symbol, 'P') + ';'))
    return lines


def write_header(spec):
    enum_types = [group for group in spec.constants
                  if group.form == 'enum' and group.ctype != 'int']
    others = [group for group in spec.constants if group not in enum_types]
    lines = [_HEAD.rstrip(), *_types(spec), '', _STATUS.rstrip()]
    for group in enum_types:
        lines += ['', f'/* {group.title} */', *_enumerators(group)]
    lines += write_callbacks(spec)
    spec_without = type(spec)(**{**spec.__dict__, 'constants': others})
    lines += _constants(spec_without)
    lines += _functions(spec)
    return '\n'.join(lines) + '\n' + _TAIL
