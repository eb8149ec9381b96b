# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""C prototypes of functions: the plain form and the `_c` form from one description."""

import dataclasses
import textwrap


@dataclasses.dataclass
class Symbol:
    """One exported function: a function of the table in one of its forms."""
    function: object
    name: str
    is_large: bool


def symbols(spec):
    """Every function of the ABI, in the order of the tables."""
    for function in spec.functions():
        yield from forms(function)


def forms(function):
    """The plain form of a function and its `_c` form, if it has one."""
    yield Symbol(function, function.name, False)
    if function.has('large'):
        yield Symbol(function, function.name + '_c', True)


def _callback_type(kind, is_large):
    plain, _, large = kind[len('callback:'):].partition('/')
    return (large if is_large and large else plain) + '*'


def element_type(spec, parameter, is_large):
    """The C type of one element, before pointers and arrays are added."""
    if parameter.kind.startswith('callback:'):
        return _callback_type(parameter.kind, is_large)
    if parameter.kind.startswith('MPI_T_'):
        return parameter.kind + ('*' if parameter.kind.endswith('_cb_function') else '')
    kind = spec.kinds[parameter.kind]
    return kind.large if is_large else kind.plain


def declaration(spec, parameter, is_large):
    """`const int ranks[]`, `MPI_Comm* newcomm`, ..."""
    if parameter.kind == 'varargs':
        return '...'
    base = element_type(spec, parameter, is_large)
    is_input = parameter.direction == 'in'
    constant = 'const ' if is_input and '*' not in base else ''
    if base == 'int3':
        return f'int {parameter.name}[][3]'
    if base == 'void':
        return f'{constant}void* {parameter.name}'
    if base == 'void*':
        return f'void* {parameter.name}'
    if base == 'char' and not parameter.is_array:
        return f'{constant}char* {parameter.name}'
    if base == 'MPI_Status':
        return f'{constant}MPI_Status{"*" if not parameter.is_array else ""} {parameter.name}' + (
            '[]' if parameter.is_array else '')
    if parameter.name.endswith('weights'):
        # gcc warns of an array in which MPI_UNWEIGHTED, a small address, has no room for an element.
        return f'{constant}{base}* {parameter.name}'
    if parameter.is_array:
        return f'{constant}{base} {parameter.name}[]'
    return f'{base}{"" if is_input else "*"} {parameter.name}'


def parameter_list(spec, symbol):
    parameters = symbol.function.parameters
    if not parameters:
        return 'void'
    return ', '.join(declaration(spec, parameter, symbol.is_large) for parameter in parameters)


def prototype(spec, symbol, prefix=''):
    return f'{symbol.function.returns} {prefix}{symbol.name}({parameter_list(spec, symbol)})'


def wrap(text, indent='', width=100):
    """Breaks a long declaration or statement after commas, never inside an argument."""
    glued = text.replace(' ', '\0').replace(',\0', ', ')
    lines = textwrap.wrap(glued, width, initial_indent=indent, subsequent_indent=indent + '    ',
                          break_long_words=False, break_on_hyphens=False)
    return '\n'.join(lines).replace('\0', ' ')
