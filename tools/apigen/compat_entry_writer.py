# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Writes the entry points of the libraries for other ABIs, and the table of our functions."""

import re

import compat_reader
import prototypes
from compat_value_writer import head

_HANDLE = re.compile(r'\bMPI_(' + '|'.join(compat_reader.HANDLES) + r')\b')
# Functions of mpi-ext.h, without the prefix MPIX_.
_EXTENSIONS = ('Comm_revoke', 'Comm_is_revoked', 'Comm_shrink', 'Comm_agree', 'Comm_iagree', 'Comm_get_failed', 'Comm_ack_failed',
               'Comm_failure_ack', 'Comm_failure_get_acked')
_BUFFERS = ('buffer_or_in_place', 'block_buffer', 'scan_buffer')


def _foreign(text):
    """A C type or declaration with the other ABI's types in place of ours."""
    return _HANDLE.sub(r'Foreign<MPI_\1>', text).replace('MPI_Status', 'ForeignStatus')


def _declaration(spec, parameter, is_large):
    if parameter.kind.startswith('callback:') or parameter.kind.endswith('_cb_function'):
        return f'Procedure* {parameter.name}'
    return _foreign(prototypes.declaration(spec, parameter, is_large))


def _handle_argument(parameter, kind, length):
    name = parameter.name
    if not parameter.is_array:
        wrapper = {'in': 'in', 'out': 'HandleOut', 'inout': 'HandleInOut'}[parameter.direction]
        return f'{wrapper}<{kind}>({name})'
    wrapper = {'in': 'HandleArrayIn', 'inout': 'HandleArrayInOut'}[parameter.direction]
    if parameter.unless_in_place:
        length = f'is_in_place({parameter.unless_in_place}) ? 0 : {length}'
    return f'{wrapper}<{kind}>({name}, {length})'


def _set_argument(parameter, name_of_set, length):
    name = parameter.name
    if name_of_set == 'weights':
        return f'weights_in({name})'
    full = f'set::{name_of_set}'
    if parameter.is_array:
        wrapper = 'ValueArrayIn' if parameter.direction == 'in' else 'ValueArrayOut'
        return f'{wrapper}<{full}>({name}, {length})'
    if parameter.direction == 'in':
        return f'to_standard<{full}>({name})'
    number = f', {parameter.kind}' if parameter.kind.startswith('MPI_T_') else ''
    return f'{"ValueOut" if parameter.direction == "out" else "ValueInOut"}<{full}{number}>({name})'


def _argument(spec, rules, symbol, parameter):
    function, name = symbol.function, parameter.name
    if parameter.kind.startswith('MPI_T_pvar_handle') and parameter.direction == 'in':
        return f'pvar_in({name})'
    found = rules.set_of(function, parameter)
    length = rules.length_of(function.name, parameter)
    if found:
        return _set_argument(parameter, found, length)
    kind = prototypes.element_type(spec, parameter, symbol.is_large)
    if _HANDLE.fullmatch(kind):
        return _handle_argument(parameter, kind, length)
    if kind == 'MPI_Status':
        if parameter.is_array:
            return f'StatusArrayOut({name}, {length})'
        return {'in': 'StatusIn', 'out': 'StatusOut', 'inout': 'StatusInOut'}[
            parameter.direction] + f'({name})'
    if parameter.kind in _BUFFERS:
        return f'buffer_in({name})'
    limit = rules.strings.get((function.name, name))
    if limit:
        counts = [p.name for p in function.parameters if p.name == 'resultlen']
        return f'StringOut<{limit}, foreign::{limit[4:].lower()}>({", ".join([name, *counts])})'
    return name


def _large_callback(kind):
    return 'callback:' in kind and '/' in kind


def _implementation(symbol):
    """The C++ function of an entry by hand: the large form is another one where callbacks differ."""
    function = symbol.function
    return 'compat::' + symbol.name[4:].lower()


def _body(spec, rules, symbol):
    function = symbol.function
    if rules.is_by_hand(function.name):
        names = ', '.join(p.name for p in function.parameters if p.kind != 'varargs')
        return f'return {_implementation(symbol)}({names});'
    arguments = ', '.join(_argument(spec, rules, symbol, p) for p in function.parameters)
    call = f'functions.{symbol.name[4:]}({arguments})'
    return f'return code_out({call});' if function.returns == 'int' else f'return {call};'


def _entry(result, name, parameters, body):
    """The function under its PMPI_ name, and a weak MPI_ one."""
    inner = f'entry_{name[4:]}' if name.startswith('MPI_') else f'entry_{name}'
    return '\n'.join([
        '', prototypes.wrap(f'extern "C" {result} {inner}({parameters}) asm("P{name}");'),
        prototypes.wrap(f'{result} {inner}({parameters}) {{'), prototypes.wrap(body, '  '), '}',
        prototypes.wrap(f'extern "C" [[gnu::weak, gnu::alias("P{name}")]] decltype({inner}) '
                        f'weak_{inner} asm("{name}");')]) + '\n'


def _head(abi, what):
    return head(abi, what) + '''
#include "compat/arguments.h"
#include "compat/calls.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC visibility push(default)

using namespace fulmar::compat;
namespace compat = fulmar::compat;
'''


def write_chapter(spec, rules, abi, chapter):
    texts = []
    for symbol in abi.symbols(spec):
        if symbol.function.chapter is not chapter:
            continue
        parameters = ', '.join(
            '...' if p.kind == 'varargs' else _declaration(spec, p, symbol.is_large)
            for p in symbol.function.parameters)
        texts.append(_entry(_foreign(symbol.function.returns), symbol.name, parameters,
                            _body(spec, rules, symbol)))
    return _head(abi, chapter.title + '.') + ''.join(texts) + '\n#pragma GCC visibility pop\n'


def write_extras(spec, rules, abi):
    texts = []
    for extra in rules.extras + abi.extras:
        parameters = ', '.join(f'Procedure* {name}' if 'function' in kind
                               else f'{_foreign(kind)} {name}' for kind, name in extra.parameters)
        call = f'compat::{extra.name.partition("_")[2].lower()}' + '(' + ', '.join(
            name for _, name in extra.parameters) + ')'
        texts.append(_entry(_foreign(extra.result), extra.name, parameters, f'return {call};'))
    symbols = {symbol.name: symbol for symbol in prototypes.symbols(spec)}
    for name, other in abi.same:
        symbol = symbols[other]
        parameters = ', '.join(_declaration(spec, p, False) for p in symbol.function.parameters)
        texts.append(_entry('int', name, parameters, _body(spec, rules, symbol)))
    return _head(abi, 'Functions beside MPI 5.0.') + ''.join(texts) + '\n#pragma GCC visibility pop\n'


def write_functions(spec):
    """compat_functions.h: a pointer to each function of ours, by name, and the names."""
    lines = ['// SPDX-License-Identifier: BSD-3-Clause', '// Copyright (c) 2026 the Fulmar authors',
             '//', '// The functions of libmpi_abi.so.1. Generated from spec/; do not edit.',
             '#pragma once', '', '#include <mpi-ext.h>', '#include <mpi.h>', '', 'namespace fulmar::compat {', '',
             '/// Addresses of functions, known when the library was found.', 'struct Functions {']
    lines += [f'  decltype(&PMPI_{symbol.name[4:]}) {symbol.name[4:]};'
              for symbol in prototypes.symbols(spec)]
    lines += [f'  decltype(&PMPIX_{name}) {name};' for name in _EXTENSIONS]
    lines += ['};', '', '/// Their names, in the same order.',
              'inline constexpr const char* function_names[] = {']
    lines += [f'    "PMPI_{symbol.name[4:]}",' for symbol in prototypes.symbols(spec)]
    lines += [f'    "PMPIX_{name}",' for name in _EXTENSIONS]
    return '\n'.join(lines + ['};', '', '}  // namespace fulmar::compat', ''])
