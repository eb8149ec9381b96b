#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""usage: make_argument_errors.py SOURCE_DIR OUTPUT

Writes the calls of tests/api/argument_errors.c: every working function, each argument that the tables know
wrong values for, each wrong value, with all other arguments right.
"""

import pathlib
import sys

# Names of variables whose type differs between a function and its `_c` form.
BY_FORM = ('count', 'counts', 'negative', 'displacements')
# MPI_CONVERSION_FN_NULL is a value like others.
MAY_BE_NULL = ('MPI_Datarep_conversion_function',)
# The message of the right call is MPI_MESSAGE_NO_PROC, which brings no data (docs/liberal.md).
WITHOUT_DATA = ('MPI_Imrecv', 'MPI_Mrecv')


def read_arguments(path):
    """(kind, direction) -> (right value, needed function, [(wrong value, class)])."""
    table, last = {}, None
    for line in path.read_text().splitlines():
        text = line.strip()
        if not text or text.startswith('#'):
            continue
        if line[0].isspace():
            wrong, _, error_class = text.partition(' -> ')
            last[2].append((wrong, error_class))
            continue
        key, value, *needs = [part.strip() for part in text.split(' : ')]
        last = (value, needs[0].split()[1] if needs else '', [])
        table[tuple(key.split())] = last
    return table


def key_of(parameter):
    kind = parameter.kind
    if parameter.is_array:
        kind += '[n]' if parameter.length else '[]'
    return kind, parameter.direction


def form(spec, parameter, value, is_large):
    """The value with variables of the right type: counts_c instead of counts, and so on."""
    name = value.lstrip('&')
    if name not in BY_FORM or parameter.kind not in spec.kinds:
        return value
    kind = spec.kinds[parameter.kind]
    return value + '_c' if is_large and kind.large != kind.plain else value


def right_values(spec, function, table, is_large, working):
    values = []
    for parameter in function.parameters:
        entry = table.get(key_of(parameter))
        if parameter.kind.startswith('callback:'):
            plain, _, large = parameter.kind.removeprefix('callback:').partition('/')
            values.append(f'({large if is_large and large else plain}*)never_called')
        elif entry is None or (entry[1] and entry[1] not in working):
            return None
        else:
            values.append(form(spec, parameter, entry[0], is_large))
    return values


def triple_cases(spec, function, at):
    """Wrong buffers, where buffer, count and datatype stand in a row."""
    kinds = [p.kind for p in function.parameters[at:at + 3]]
    if kinds[1:] != ['count', 'datatype'] or function.parameters[at].is_array:
        return []
    if kinds[0] == 'buffer':
        return [('NULL', 'BUFFER'), ('MPI_IN_PLACE', 'BUFFER')]
    return [('NULL', 'BUFFER')] if kinds[0] == 'buffer_or_in_place' else []


def cases(spec, table, prototypes):
    working = {f.name for f in spec.functions() if not f.has('missing')}
    for symbol in prototypes.symbols(spec):
        function = symbol.function
        if function.has('missing') or function.has('direct') or function.chapter.style == 'tool':
            continue
        values = right_values(spec, function, table, symbol.is_large, working)
        if values is None:
            continue
        for at, parameter in enumerate(function.parameters):
            if parameter.kind.startswith('callback:'):
                plain = parameter.kind.removeprefix('callback:').partition('/')[0]
                wrongs = [('NULL', 'ARG')] if '/' in parameter.kind and plain not in MAY_BE_NULL else []
            elif function.name in WITHOUT_DATA and parameter.kind == 'datatype':
                continue
            else:
                wrongs = list(table[key_of(parameter)][2]) + triple_cases(spec, function, at)
            for wrong, error_class in wrongs:
                wrong = form(spec, parameter, wrong, symbol.is_large)
                arguments = values[:at] + [wrong] + values[at + 1:]
                yield symbol.name, parameter.name, wrong, error_class, arguments


def main():
    source, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    sys.path.insert(0, str(source / 'tools' / 'apigen'))
    import prototypes
    import spec_reader
    spec = spec_reader.read_spec(source / 'spec')
    table = read_arguments(source / 'tests' / 'api' / 'arguments.table')
    lines, functions = [], set()
    for name, argument, wrong, error_class, arguments in cases(spec, table, prototypes):
        functions.add(name)
        shown = wrong.replace('"', '')
        lines.append(f'  begin("{name}", "{argument}", "{shown}");\n'
                     f'  end(MPI_ERR_{error_class}, {name}({", ".join(arguments)}));')
    working = {f.name for f in spec.functions() if not f.has('missing')}
    head = [f'#define HAVE_{name} 1' for name in ('MPI_Info_create', 'MPI_Session_init', 'MPI_Win_allocate')
            if name in working]
    body = '\n'.join(lines)
    output.write_text('\n'.join(head) + '\n#define CASES ' + str(len(lines)) +
                      f'\n#define FUNCTIONS {len(functions)}\n'
                      f'static void run_all(void) {{\n{body}\n}}\n')


main()
