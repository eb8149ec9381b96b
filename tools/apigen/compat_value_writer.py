# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Writes <foreign_values.h> of one ABI: types, constants, and which take each other's place."""

import fnmatch

import compat_reader
import prototypes

_HEAD = '''\
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// {what} Generated from spec/abi_{name}.table; do not edit.
'''

# MPI_LB and MPI_UB as fulmar/mpi_removed.h numbers them.
_BOUNDS = {'MPI_LB': 0x4f0, 'MPI_UB': 0x4f1}


def head(abi, what):
    return _HEAD.format(name=abi.name, what=what)


def _number_type(handle):
    return 'Type' if handle == 'Datatype' else handle


def _types(spec, abi):
    standard = compat_reader.standard_values(spec)
    structs = sorted({kind[:-1] for kind in abi.types.values() if kind not in ('int', 'void*')})
    lines = [f'struct {name};' for name in structs]
    lines += ['', '/// What a handle of the standard ABI is here.', 'template <class Handle>',
              'struct Traits;']
    for handle in compat_reader.HANDLES:
        kind = f'MPI_{handle}'
        lines += ['template <>', f'struct Traits<{kind}> {{', f'  using Type = {abi.types[kind]};',
                  f'  static constexpr std::uint32_t kind = {compat_reader.HANDLES.index(handle)};',
                  f'  static constexpr auto to_number = &Functions::{_number_type(handle)}_toint;',
                  f'  static constexpr auto from_number = &Functions::{_number_type(handle)}_fromint;']
        pairs = [(number, standard.get(name, (_BOUNDS.get(name),))[0])
                 for name, number in abi.handles.items()
                 if name in _BOUNDS and handle == 'Datatype' or name in standard
                 and standard[name][1] == kind]
        if pairs:
            body = ', '.join(f'{{0x{number:08x}, 0x{code:x}}}' for number, code in pairs)
            lines.append(prototypes.wrap(f'  static constexpr HandlePair handles[] = {{{body}}};'))
        lines.append('};')
    return lines


def _objects(spec, abi):
    standard = compat_reader.standard_values(spec)
    lines = []
    for name, symbol, size, number in abi.objects:
        lines.append(f'extern "C" [[gnu::visibility("default")]] char {symbol}[{size}];')
    lines += ['', '/// The predefined objects, where handles are addresses.']
    if not abi.objects:
        return lines + ['inline constexpr std::array<PredefinedObject, 0> predefined_objects{};']
    lines.append('inline const PredefinedObject predefined_objects[] = {')
    for name, symbol, _, number in abi.objects:
        if name == '-':
            continue
        code, kind = (_BOUNDS[name], 'MPI_Datatype') if name in _BOUNDS else standard[name]
        position = compat_reader.HANDLES.index(kind[4:])
        lines.append(f'    {{{symbol}, 0x{code:x}, {position}, {number if number != "-" else -1}}},')
    lines.append('};')
    return lines


def _sets(spec, abi, rules):
    standard = compat_reader.standard_values(spec)
    lines = ['', '/// Constants that take each other\'s place.', 'namespace set {']
    for name, (is_bits, patterns) in rules.sets.items():
        members = [constant for pattern in patterns for constant in standard
                   if fnmatch.fnmatchcase(constant, pattern) and constant in abi.values]
        members = list(dict.fromkeys(members))
        body = ', '.join(f'{{{abi.values[m]}, {standard[m][0]}}}' for m in members)
        lines += [f'struct {name} {{', f'  static constexpr bool is_bits = {str(is_bits).lower()};']
        if members:
            lines.append(prototypes.wrap(f'  static constexpr Pair pairs[] = {{{body}}};'))
        else:
            lines.append('  static constexpr std::array<Pair, 0> pairs{};')
        lines.append('};')
    return lines + ['}  // namespace set']


def write_values(spec, abi, rules):
    lines = [head(abi, 'Types and constants of another ABI.'), '#pragma once', '',
             '#include "compat/facts.h"', '', 'namespace fulmar::compat::foreign {', '',
             f'inline constexpr bool handles_are_numbers = {str(bool(abi.handles)).lower()};']
    lines += _types(spec, abi)
    lines += _objects(spec, abi)
    lines += ['', 'struct Status {'] + [f'  {kind} {name};' for kind, name in abi.status] + ['};', '']
    for name, value in abi.values.items():
        lines.append(f'inline constexpr long {name.partition("_")[2].lower()} = {value};')
    lines += _sets(spec, abi, rules)
    return '\n'.join(lines + ['', '}  // namespace fulmar::compat::foreign', ''])


def write_objects(abi):
    """objects.cc: the predefined objects. Programs know their addresses and their sizes."""
    lines = [head(abi, 'Predefined objects.'), '#include <foreign_values.h>', '',
             'extern "C" {']
    for _, symbol, size, _ in abi.objects:
        lines.append(f'[[gnu::visibility("default")]] alignas(64) char {symbol}[{size}];')
    return '\n'.join(lines + ['}', ''])


def write_exports(spec, abi, rules):
    """A line for each exported name, with the size of objects that programs may copy."""
    names = [symbol.name for symbol in abi.symbols(spec)]
    names += [extra.name for extra in rules.extras + abi.extras] + [name for name, _ in abi.same]
    lines = [prefix + name for name in names for prefix in ('', 'P')]
    lines += [f'{symbol} {size}' for _, symbol, size, _ in abi.objects]
    lines += abi.data
    return '\n'.join(sorted(lines)) + '\n'
