# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Reads spec/compat.table and the facts of one other ABI, spec/abi_<name>.table (spec/README.md)."""

import dataclasses
import fnmatch
import re

import prototypes
import spec_reader

HANDLES = ('Op', 'Comm', 'Group', 'Win', 'File', 'Session', 'Message', 'Info', 'Errhandler',
           'Request', 'Datatype')


@dataclasses.dataclass
class Extra:
    """A function beside MPI 5.0: (type, name) of each parameter, types as in C."""
    result: str
    name: str
    parameters: list


@dataclasses.dataclass
class Rules:
    """spec/compat.table, and what of spec/fortran.table is meant for both."""
    sets: dict  # name -> (is of bits, patterns of constants)
    kinds: dict  # kind of a parameter -> set
    values: list  # (pattern of functions, pattern of parameters, set)
    by_hand: list
    lengths: list  # (pattern of functions, parameter, expression)
    strings: dict  # (function, parameter) -> constant of its length
    extras: list

    def set_of(self, function, parameter):
        found = self.kinds.get(parameter.kind, '')
        for functions, parameters, name in self.values:
            if (fnmatch.fnmatchcase(function.name, functions)
                    and fnmatch.fnmatchcase(parameter.name, parameters)
                    and parameter.kind.removesuffix('[]') in _NUMBERS):
                found = name
        return '' if found == '-' else found

    def is_by_hand(self, name):
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self.by_hand)

    def length_of(self, function, parameter):
        found = parameter.length
        for pattern, name, expression in self.lengths:
            if fnmatch.fnmatchcase(function, pattern) and name == parameter.name:
                found = expression
        return found


# Kinds that can be of a set. A request's `status` is none, the `status` of MPI_Topo_test is.
_NUMBERS = ('int', 'file_offset', 'MPI_T_cb_safety', 'MPI_T_source_order', 'natural')


@dataclasses.dataclass
class Abi:
    """The facts of one ABI."""
    name: str
    libraries: list  # soname, then its other names
    types: dict  # MPI_Comm -> type in C
    status: list  # (type, field)
    handles: dict  # constant -> number; empty where handles are addresses
    objects: list  # (constant or '-', symbol, bytes, number in Fortran or '-')
    values: dict  # constant -> number
    absent: list
    extras: list
    same: list  # (name, name of the function that it is)
    declarations: list  # lines of C for the header of the tests
    data: list  # other names that are exported

    def has(self, name):
        return not any(fnmatch.fnmatchcase(name, pattern) for pattern in self.absent)

    def symbols(self, spec):
        return [symbol for symbol in prototypes.symbols(spec) if self.has(symbol.name)]


def _lines(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.strip()
        if text and not text.startswith('#'):
            yield f'{path.name}:{number}', text.split(), text


def _extra(text):
    left, _, right = text.partition(' : ')
    _, result, name = left.split()
    parameters = []
    for part in ([] if right == 'void' else right.split(', ')):
        match = re.fullmatch(r'(.*?)\s*(\w+)', part)
        parameters.append((match[1], match[2]))
    return Extra(result, name, parameters)


def read_rules(folder):
    rules = Rules({}, {}, [], [], [], {}, [])
    for where, words, text in _lines(folder / 'compat.table'):
        if words[0] in ('set', 'bits'):
            rules.sets.setdefault(words[1], (words[0] == 'bits', []))[1].extend(words[2:])
        elif words[0] == 'kind':
            rules.kinds[words[1]] = words[2]
        elif words[0] == 'value':
            rules.values.append(tuple(words[1:4]))
        elif words[0] == 'by_hand':
            rules.by_hand += words[1:]
        elif words[0] == 'length':
            rules.lengths.append(tuple(words[1:4]))
        elif words[0] == 'extra':
            rules.extras.append(_extra(text))
        else:
            raise spec_reader.SpecError(f'{where}: unknown word "{words[0]}"')
    for _, words, _ in _lines(folder / 'fortran.table'):
        if words[0] == 'string':
            rules.strings[words[1], words[2]] = words[3]
    return rules


def read_abi(path):
    abi = Abi(path.stem.removeprefix('abi_'), [], {}, [], {}, [], {}, [], [], [], [], [])
    for where, words, text in _lines(path):
        word, rest = words[0], words[1:]
        if word == 'library':
            abi.libraries = rest
        elif word == 'type':
            abi.types[rest[0]] = rest[1]
        elif word == 'status':
            abi.status.append(tuple(rest))
        elif word == 'handle':
            abi.handles[rest[0]] = int(rest[1], 0)
        elif word == 'object':
            abi.objects.append((rest[0], rest[1], int(rest[2]), rest[3]))
        elif word == 'value':
            abi.values[rest[0]] = int(rest[1], 0)
        elif word == 'absent':
            abi.absent += rest
        elif word == 'extra':
            abi.extras.append(_extra(text))
        elif word == 'define':
            abi.declarations.append(f'#define {" ".join(rest)}')
        elif word == 'declare':
            abi.declarations.append(' '.join(rest))
            abi.data.append(re.search(r'(\w+)(\(.*\))?;$', text)[1])
        elif word == 'same':
            abi.same.append(tuple(rest))
        else:
            raise spec_reader.SpecError(f'{where}: unknown word "{word}"')
    return abi


# Constants of mpi-ext.h.
_EXTENSIONS = {'MPIX_FT': (901, 'int'), 'MPIX_C_FLOAT16': (0x3c0, 'MPI_Datatype'), 'MPIX_BFLOAT16': (0x3c1, 'MPI_Datatype'),
               'MPIX_C_FLOAT16_COMPLEX': (0x3c2, 'MPI_Datatype'), 'MPIX_CXX_FLOAT16_COMPLEX': (0x3c3, 'MPI_Datatype')}


def standard_values(spec):
    """Constant of the standard ABI or of mpi-ext.h -> (its value as an integer, its C type)."""
    values = dict(_EXTENSIONS)
    for group in spec.constants:
        for name, *value in group.members:
            number = values[value[1]][0] if value[0] == '=' else int(value[0], 0)
            values[name] = (number, group.ctype)
    return values
