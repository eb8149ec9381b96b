# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Writes MPICH's C++ bindings for libmpicxx.so.12 from spec/cxx_mpich.table: classes, functions, constants, objects."""

import dataclasses
import re

import prototypes
import spec_reader

_METHOD = re.compile(r'(?:(type|static|plain) )?(.+?[ &*])(\w+)\((.*?)\)( const)?(?: = (MPI_\w+))?')
_PARAMETER = re.compile(r'(.+?[ &*])(\w+)((?:\[\d*\])*)')
_VARIABLES = ('Datatype', 'Intracomm', 'File')  # classes whose predefined objects are not constant
_OF_THEIR_OWN = ('Comm', 'Win', 'File')  # classes whose objects have error handlers


@dataclasses.dataclass
class Method:
    sort: str  # virtual, plain, static, type, function
    result: str
    name: str
    parameters: list  # (type, name, array)
    constant: str
    function: str  # of C; empty: written by hand

    @property
    def list(self):
        return ', '.join('...' if kind == '...' else f'{kind}{name}{array}' for kind, name, array in self.parameters)


@dataclasses.dataclass
class Class:
    name: str
    base: str
    handle: str
    methods: list


@dataclasses.dataclass
class Bindings:
    classes: list
    functions: list
    constants: list  # (name, value in C)
    objects: list  # (class, name, value in C)


def _read_method(where, text, sort):
    match = _METHOD.fullmatch(text)
    if not match:
        raise spec_reader.SpecError(f'{where}: expected "RESULT NAME(PARAMETERS) [const] [= FUNCTION]", found "{text}"')
    parameters = []
    for word in match[4].split(', ') if match[4] else []:
        if word == '...':
            parameters.append(('...', '', ''))
            continue
        parts = _PARAMETER.fullmatch(word)
        if not parts:
            raise spec_reader.SpecError(f'{where}: "{word}" is no parameter')
        parameters.append(parts.groups())
    return Method(match[1] or sort, match[2].strip(), match[3], parameters, match[5] or '', match[6] or '')


def read_bindings(path):
    bindings, section = Bindings([], [], [], []), ''
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text, where = line.strip(), f'{path.name}:{number}'
        if not text or text.startswith('#'):
            continue
        words = text.split()
        if not line[0].isspace():
            section = words[0]
            if section == 'class':
                base = words[3] if words[2] == ':' else ''
                handle = next(c.handle for c in bindings.classes if c.name == base) if base else words[2]
                bindings.classes.append(Class(words[1], base, handle, []))
        elif section == 'class':
            bindings.classes[-1].methods.append(_read_method(where, text, 'virtual'))
        elif section == 'functions':
            bindings.functions.append(_read_method(where, text, 'function'))
        elif section == 'constants':
            bindings.constants += [(name, value or f'MPI_{name}') for name, _, value in (word.partition('=') for word in words)]
        else:
            for word in words[1:]:
                name, _, value = word.partition('=')
                bindings.objects.append((words[0], name, value or f'MPI_{name}'))
    return bindings


_HEAD = '''// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// {what} Generated from spec/cxx_mpich.table; do not edit.
'''


def _class_text(spec_class):
    name, base, handle = spec_class.name, spec_class.base, spec_class.handle
    lines = [f'class {name}' + (f' : public {base}' if base else '') + ' {', ' public:', f'  {name}() = default;']
    lines.append(f'  {name}({handle} value) : ' + (f'{base}(value) {{}}' if base else 'handle(value) {}'))
    lines.append(f'  {name}(const {name}& other) = default;')
    lines.append(f'  {name}& operator=(const {name}& other) = default;')
    lines.append(f'  virtual ~{name}() {{}}' if not base else f'  ~{name}() override {{}}')
    for method in spec_class.methods:
        if method.sort == 'type':
            text = f'using {method.name} = {method.result}({method.list});'
        else:
            sort = {'virtual': 'virtual ', 'static': 'static ', 'plain': ''}[method.sort]
            pure = ' = 0' if name == 'Comm' and method.name == 'Clone' else ''
            text = f'{sort}{method.result} {method.name}({method.list}){method.constant}{pure};'
        lines.append(prototypes.wrap(text, '  '))
    if not base:
        null = '{}' if handle == 'MPI_Status' else f' = {handle.upper()}_NULL'
        lines.append(f'  operator {handle}() const {{ return handle; }}')
        lines.append(f'  {handle} handle{null};')
    return '\n'.join(lines + ['};'])


def write_classes(bindings):
    lines = [_HEAD.format(what="Classes of namespace MPI as compilers lay out those of MPICH's header."), '#pragma once', '',
             '#include <mpi.h>', '',
             '#pragma GCC diagnostic ignored "-Woverloaded-virtual"', '#undef SEEK_SET', '#undef SEEK_CUR', '#undef SEEK_END', '',
             '#pragma GCC visibility push(default)', 'namespace MPI {', '', 'using Aint = MPI_Aint;', 'using Offset = MPI_Offset;', '']
    lines += [f'class {c.name};' for c in bindings.classes] + ['']
    lines += [_class_text(c) + '\n' for c in bindings.classes]
    lines += [prototypes.wrap(f'{f.result} {f.name}({f.list});') for f in bindings.functions] + ['']
    lines += [f'extern const int {name};' for name, _ in bindings.constants]
    lines += [f'extern {"" if kind in _VARIABLES else "const "}{kind} {name};' for kind, name, _ in bindings.objects]
    return '\n'.join(lines + ['', '}  // namespace MPI', '#pragma GCC visibility pop', ''])


def _is_handle(bindings, kind):
    return any(re.sub(r'const |[&* ]', '', kind) == c.name for c in bindings.classes)


def _argument(bindings, parameter, of_c):
    """A parameter of C++ as the argument for one of C."""
    kind, name, array = parameter
    if _is_handle(bindings, kind):
        return f'{"&" if of_c.direction != "in" else ""}{name}.handle'
    if of_c.kind in ('pointer', 'memory') or kind.startswith('const void') and of_c.direction == 'in':
        return f'&{name}' if kind.endswith('& ') or kind.endswith('&') else f'const_cast<void*>({name})' if (
            kind.startswith('const void') and of_c.kind in ('pointer', 'memory')) else name
    if array.endswith('[3]'):
        return f'const_cast<int(*)[3]>({name})'
    return f'&{name}' if kind.endswith('& ') else name


def _is_of(spec, parameter, handle):
    kind = spec.kinds.get(parameter.kind)
    return kind is not None and kind.plain == handle and not parameter.is_array


def _arguments(spec, bindings, spec_class, method, function):
    """What is passed to the function of C, and which parameter is the result."""
    parameters = function.parameters
    own = None
    if spec_class and method.sort != 'static':
        own = next(p for p in parameters if _is_of(spec, p, spec_class.handle)
                   and (p.direction != 'out' or spec_class.name == 'Status'))
    result = None
    if method.result != 'void':
        result = [p for p in parameters if p.direction == 'out' and p.kind != 'status'][-1]
    given = list(method.parameters)
    words = []
    for parameter in parameters:
        if parameter is own:
            is_pointer = parameter.direction != 'in' or parameter.kind == 'status'
            if is_pointer and method.constant and parameter.direction == 'inout':
                words.append(f'const_cast<{spec_class.handle}*>(&handle)')
            else:
                words.append('&handle' if is_pointer else 'handle')
        elif parameter is result:
            words.append('&result.handle' if _is_handle(bindings, method.result) else '&result')
        elif parameter.kind == 'status' and not (given and 'Status' in given[0][0]):
            words.append('MPI_STATUS_IGNORE')
        else:
            words.append(_argument(bindings, given.pop(0), parameter))
    if given:
        raise spec_reader.SpecError(f'cxx_mpich.table: {method.name} has more parameters than {method.function}')
    return ', '.join(words)


def _method_text(spec, bindings, functions, spec_class, method):
    function = functions[method.function]
    call = f'{method.function}({_arguments(spec, bindings, spec_class, method, function)})'
    root = spec_class
    while root and root.base:
        root = next(c for c in bindings.classes if c.name == root.base)
    is_own = root and root.name in _OF_THEIR_OWN and method.sort != 'static'
    handler = 'Call_errhandler' if is_own else 'MPIR_Call_world_errhand'
    scope = f'{spec_class.name}::' if spec_class else ''
    result = {'bool': 'int result = 0;', 'int': 'int result = 0;', 'Aint': 'Aint result = 0;', 'Offset': 'Offset result = 0;',
              'void*': 'void* result = nullptr;'}.get(method.result, f'{method.result} result;')
    lines = ['', prototypes.wrap(f'{method.result} {scope}{method.name}({method.list}){method.constant} {{')]
    if method.result != 'void':
        lines.append(f'  {result}')
    lines.append(prototypes.wrap(f'const int code = {call};', '  '))
    lines.append(f'  if (code != MPI_SUCCESS) {handler}(code);')
    if method.result != 'void':
        lines.append(f'  return result{" != 0" if method.result == "bool" else ""};')
    return '\n'.join(lines + ['}'])


def write_methods(spec, bindings):
    functions = {function.name: function for function in spec.functions()}
    lines = [_HEAD.format(what='Functions of namespace MPI, each over one of C.'), '#include "cxx_classes.h"', '',
             '#pragma GCC visibility push(default)', 'namespace MPI {']
    for spec_class in bindings.classes:
        lines += [_method_text(spec, bindings, functions, spec_class, m) for m in spec_class.methods if m.function]
    lines += [_method_text(spec, bindings, functions, None, f) for f in bindings.functions if f.function]
    lines += [''] + [f'const int {name} = {value};' for name, value in bindings.constants]
    return '\n'.join(lines + ['', '}  // namespace MPI', '#pragma GCC visibility pop', ''])


def write_objects(bindings):
    """Predefined objects, filled by the linker: programs may have copies of them, which are made when the program starts."""
    lines = [_HEAD.format(what='Predefined objects of namespace MPI.'), '#include <mpi.h>', '', '#include "compat/cxx/objects.h"',
             '#include "compat/cxx/mpich/errhandlers.h"', '',
             '#pragma GCC visibility push(default)', 'namespace MPI {', '',
             'using fulmar::compat::cxx::Object;', 'using fulmar::compat::cxx::throw_exceptions;', '']
    for kind, name, value in bindings.objects:
        spec_class = next(c for c in bindings.classes if c.name == kind)
        lines.append(f'extern Object<{spec_class.handle}> {name};')
        lines.append(f'Object<{spec_class.handle}> {name} = {{table_of_{kind.lower()} + 2, {value}}};')
    return '\n'.join(lines + ['', '}  // namespace MPI', '#pragma GCC visibility pop', ''])


def write_cxx(spec, folder):
    bindings = read_bindings(folder / 'cxx_mpich.table')
    yield 'mpich/cxx/cxx_classes.h', write_classes(bindings)
    yield 'mpich/cxx/methods.cc', write_methods(spec, bindings)
    yield 'mpich/cxx/objects.cc', write_objects(bindings)
