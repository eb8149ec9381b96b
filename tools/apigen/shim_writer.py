# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Writes shims_<chapter>.cc: per symbol a PMPI_ function and its weak MPI_ alias."""

import prototypes

_HEAD = '''\
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// {title}. Generated from spec/{name}.api; do not edit.
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

{includes}

#pragma GCC diagnostic ignored "-Wunused-parameter"

{aliases}

#pragma GCC visibility push(default)
extern "C" {{
'''

_TAIL = '''
}  // extern "C"
#pragma GCC visibility pop
'''

# Kinds of objects on whose error handler an error is raised, by the name of the kind.
_SUBJECTS = ('comm', 'win', 'file', 'session', 'request')


def _call_text(symbol):
    """The names that an error text needs: function and parameters, each ended by a NUL."""
    names = [symbol.name] + [p.name for p in symbol.function.parameters]
    return '\\0'.join(names)


def _subject(function):
    """The first argument that has an error handler: ("comm", expression) or None."""
    for parameter in function.parameters:
        kind = parameter.kind.removesuffix('_or_null')
        if kind in _SUBJECTS and parameter.direction != 'out' and not parameter.is_array:
            return kind, parameter.name
    return None


def _missing(function):
    if function.chapter.style == 'tool':
        return 'return MPI_T_ERR_NOT_SUPPORTED;'
    if function.attributes.get('raise') == 'file':
        return 'return api::missing(call, mpi::ObjectKind::file, 0);'
    subject = _subject(function)
    if subject is None:
        return 'return api::missing(call);'
    kind, name = subject
    return f'return api::missing(call, mpi::ObjectKind::{kind}, api::handle_at({name}));'


def _combination(spec, parameters, at):
    """The table's entry for the parameters from here on, if they belong together."""
    for combination in spec.combinations:
        part = parameters[at:at + len(combination.kinds)]
        fits = tuple(p.kind for p in part) == combination.kinds
        same_place = len({p.at for p in part}) == 1
        if fits and same_place and not any(p.is_array or p.unless_in_place or p.unless_no_op for p in part):
            return combination
    return None


def _peer(function, direction):
    """The parameter with the rank that data go to ("in") or come from ("out"), if there is one."""
    kind = {'in': 'dest', 'out': 'source'}.get(direction)
    names = [p.name for p in function.parameters if p.kind == kind]
    if direction == 'out':
        names += [f'api::origin_of({p.name})' for p in function.parameters if p.kind == 'message']
    return names


def _wrapped(parameter, wrapper):
    if parameter.unless_in_place:
        wrapper = f'api::unless_in_place({parameter.unless_in_place}, {wrapper})'
    if parameter.unless_no_op:
        wrapper = f'api::unless_no_op({parameter.unless_no_op}, {wrapper})'
    if parameter.at:
        wrapper = f'api::at<api::Significant::{parameter.at}>({wrapper})'
    return wrapper


def _wrapper_class(spec, function, parameter):
    if parameter.kind.startswith('callback:'):
        return 'Callback', 'values'
    kind = spec.kinds[parameter.kind]
    if function.has('local') and (parameter.kind, parameter.direction) == ('comm', 'in'):
        return 'LocalCommIn', kind.header
    return kind.wrappers['array' if parameter.is_array else parameter.direction], kind.header


def wrappers(spec, symbol):
    """(C++ expressions that carry the arguments, headers they need)."""
    parameters, expressions, headers = symbol.function.parameters, [], set()
    at = 0
    while at < len(parameters):
        parameter = parameters[at]
        combination = _combination(spec, parameters, at)
        if combination is not None:
            names = [p.name for p in parameters[at:at + len(combination.kinds)]]
            names += _peer(symbol.function, parameter.direction)
            name, header = combination.wrappers[parameter.direction], 'buffer'
            at += len(combination.kinds) - 1
            first = at - len(combination.kinds) + 1
        else:
            name, header = _wrapper_class(spec, symbol.function, parameter)
            names, first = [parameter.name], at
            if parameter.is_array and parameter.length:
                names.append(parameter.length)
            if parameter.kind == 'datatype' and not parameter.is_array and parameter.direction == 'in':
                names += _peer(symbol.function, 'in')
            if parameter.kind.startswith('callback:') and '/' in parameter.kind:
                name = f'CallbackOf<{_either(parameter.kind)}>'
        headers.add(header)
        if parameter.is_conditional():
            headers.add('significance')
        expressions.append(_wrapped(parameter, f'api::{name}{{{first}, {", ".join(names)}}}'))
        at += 1
    return expressions, headers


def _either(kind):
    plain, _, large = kind[len('callback:'):].partition('/')
    return f'{plain}, {large}'


def _lock(function):
    if function.has('unlocked'):
        return 'none'
    return 'checks' if function.has('checks_locked') else 'held'


def _errors(function):
    on = function.attributes.get('raise')
    return {None: 'first_object', 'file': 'files', 'comm': 'new_comms',
            'session': 'new_sessions'}[on]


def _modes(function):
    """Template arguments of entry, without those at the end that are its defaults."""
    modes = [f'api::When::{function.attributes.get("when", "running")}',
             f'api::Lock::{_lock(function)}',
             f'api::Errors::{_errors(function)}']
    defaults = ['api::When::running', 'api::Lock::held', 'api::Errors::first_object']
    while modes and modes[-1] == defaults[len(modes) - 1]:
        modes.pop()
    return modes


def _entry(spec, symbol):
    function = symbol.function
    names = ', '.join(p.name for p in function.parameters if p.kind != 'varargs')
    if function.chapter.style == 'tool' and not function.is_of_a_layer:
        return f'return api::tool_entry<{function.implementation}>({names});', set()
    if function.has('direct') or function.chapter.style == 'tool':
        return f'return {function.implementation}({names});', set()
    modes = _modes(function)
    expressions, headers = wrappers(spec, symbol)
    if function.has('join'):
        modes = [f'mpi::join_{function.attributes["join"]}',
                 *(['api::Errors::files'] if function.has('raise') else [])]
    template = ', '.join([function.implementation, *modes])
    entry = ('collective_entry' if function.has('agree') else
             'announced_entry' if function.has('announce') else
             'file_entry' if function.has('join') else
             'making_entry' if function.has('makes') else
             'group_making_entry' if function.has('makes_in_group') else 'entry')
    return f'return api::{entry}<{template}>({", ".join(["call", *expressions])});', headers


def write_shim(spec, symbol):
    """The text of one shim, and the headers of src/api/kinds that it needs."""
    function = symbol.function
    direct = function.has('direct') or function.chapter.style == 'tool'
    if function.has('missing'):
        body, headers = _missing(function), set()
    else:
        body, headers = _entry(spec, symbol)
    head = prototypes.prototype(spec, symbol, 'P')
    alias = prototypes.prototype(spec, symbol)
    lines = ['', prototypes.wrap(head + ' {')]
    if not direct:
        lines.append(f'  static constexpr char call[] = "{_call_text(symbol)}";')
    lines += [prototypes.wrap(body, '  '), '}',
              prototypes.wrap(f'[[gnu::weak, gnu::alias("P{symbol.name}")]] {alias};')]
    return '\n'.join(lines) + '\n', headers


def write_shims(spec, chapter):
    texts, kinds, folders = [], set(), set()
    for symbol in prototypes.symbols(spec):
        if symbol.function.chapter is not chapter:
            continue
        text, headers = write_shim(spec, symbol)
        texts.append(text)
        kinds |= headers
        if not symbol.function.has('missing'):
            folders.add(symbol.function.folder)
    includes = [f'#include "api/{"tool_entry" if chapter.style == "tool" else "entry"}.h"']
    if any(function.has('agree') or function.has('announce') for function in chapter.functions):
        includes.append('#include "api/collective.h"')
    if any(function.has('join') for function in chapter.functions):
        includes.append('#include "api/file_entry.h"')
    if any(function.has('makes') or function.has('makes_in_group') for function in chapter.functions):
        includes.append('#include "api/making.h"')
    includes += [f'#include "api/kinds/{kind}.h"' for kind in sorted(kinds)]
    for folder in sorted(folders):
        if folder == 'runtime' and chapter.style == 'tool':
            continue  # api/tool_entry.h has it
        space = folder if folder in ('api', 'runtime') else f'mpi/{folder}'
        includes.append(f'#include "{space}/calls.h"')
    body = ''.join(texts)
    aliases = [f'namespace {name} = fulmar::{name};' for name in ('api', 'mpi', 'runtime')
               if f'{name}::' in body]
    head = _HEAD.format(title=chapter.title, name=chapter.name, includes='\n'.join(includes),
                        aliases='\n'.join(aliases))
    return head + body + _TAIL
