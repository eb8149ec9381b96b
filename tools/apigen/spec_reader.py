# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Reads the tables of spec/ (format: spec/README.md) into plain objects."""

import dataclasses
import pathlib
import re
import shlex


class SpecError(Exception):
    """A line of a table that cannot be understood."""


@dataclasses.dataclass
class Kind:
    name: str
    plain: str
    large: str
    wrappers: dict  # 'in', 'out', 'inout', 'array' -> class name
    header: str
    meaning: str


@dataclasses.dataclass
class Combination:
    kinds: tuple
    wrappers: dict


@dataclasses.dataclass
class Parameter:
    name: str
    kind: str
    direction: str
    is_array: bool = False
    length: str = ''
    at: str = ''
    unless_in_place: str = ''
    unless_no_op: str = ''

    def is_conditional(self):
        return bool(self.at or self.unless_in_place or self.unless_no_op)


@dataclasses.dataclass
class Function:
    name: str
    chapter: object
    attributes: dict
    parameters: list

    def has(self, flag):
        return flag in self.attributes

    @property
    def returns(self):
        return self.attributes.get('returns', 'int')

    @property
    def folder(self):
        return self.attributes.get('folder', self.chapter.folder)

    @property
    def is_of_a_layer(self):
        """Whether the implementation is not below src/mpi."""
        return self.folder in ('api', 'runtime')

    @property
    def implementation(self):
        """Name of the C++ function, with its namespace below fulmar::."""
        space = self.folder if self.is_of_a_layer else 'mpi'
        return f'{space}::{self.name[len("MPI_"):].lower()}'


@dataclasses.dataclass
class Chapter:
    name: str
    number: str
    title: str
    folder: str
    style: str
    functions: list


@dataclasses.dataclass
class ConstantGroup:
    ctype: str
    form: str
    title: str
    members: list  # (name, value) or (name, '=', other)


@dataclasses.dataclass
class Callback:
    name: str
    alias: str
    attributes: dict
    parameters: list  # (name, type); ('...', '')


@dataclasses.dataclass
class Spec:
    kinds: dict
    combinations: list
    chapters: list
    constants: list
    callbacks: list
    types: list  # (sort, name, definition)
    options: list

    def functions(self):
        for chapter in self.chapters:
            yield from chapter.functions


def _lines(path):
    """Yields (number, indented, text) of the lines that say something."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.strip()
        if text and not text.startswith('#'):
            yield f'{path.name}:{number}', line[0].isspace(), text


def _attributes(words):
    pairs = (word.partition('=') for word in words)
    return {key: value if equals else True for key, equals, value in pairs}


def _read_kinds(path):
    kinds, combinations = {}, []
    for where, _, text in _lines(path):
        words = shlex.split(text)
        if words[0] == 'combine':
            count = len(words) - 5
            combinations.append(
                Combination(tuple(words[1:1 + count]),
                            dict(zip(('in', 'out', 'inout'), words[1 + count:-1]))))
            continue
        if len(words) != 9:
            raise SpecError(f'{where}: a kind needs 9 columns, found {len(words)}')
        name, plain, large, *wrappers, header, meaning = words
        kinds[name] = Kind(name, plain, plain if large == '-' else large,
                           dict(zip(('in', 'out', 'inout', 'array'), wrappers)), header, meaning)
    return kinds, combinations


def _read_parameter(where, text):
    words = text.split()
    if words[0] == '...':
        return Parameter('...', 'varargs', 'in')
    if len(words) < 3 or words[2] not in ('in', 'out', 'inout'):
        raise SpecError(f'{where}: expected "name kind in|out|inout", found "{text}"')
    name, kind, direction, *rest = words
    array = re.fullmatch(r'([^\[]+)\[(\w*)\]', kind)
    extra = _attributes(rest)
    return Parameter(name, array[1] if array else kind, direction, bool(array),
                     array[2] if array else '', extra.pop('at', ''),
                     extra.pop('unless_in_place', ''), extra.pop('unless_no_op', ''))


def _read_chapter(path):
    chapter = None
    for where, indented, text in _lines(path):
        if indented:
            chapter.functions[-1].parameters.append(_read_parameter(where, text))
        elif text.startswith('chapter '):
            left, _, title = text.partition(' : ')
            _, number, *rest = left.split()
            attributes = _attributes(rest)
            chapter = Chapter(path.stem, number, title, attributes['folder'],
                              attributes.get('style', ''), [])
        elif text.startswith('MPI_') and chapter is not None:
            name, *rest = text.split()
            chapter.functions.append(Function(name, chapter, _attributes(rest), []))
        else:
            raise SpecError(f'{where}: expected a function, found "{text}"')
    return chapter


def _read_constants(path):
    groups = []
    for where, indented, text in _lines(path):
        if not indented:
            left, _, title = text.partition(' : ')
            _, ctype, form = left.split()
            groups.append(ConstantGroup(ctype, form, title, []))
            continue
        words = text.split()
        if len(words) not in (2, 3):
            raise SpecError(f'{where}: expected "NAME value" or "NAME = OTHER"')
        groups[-1].members.append(tuple(words))
    return groups


def _read_callbacks(path):
    callbacks = []
    for _, indented, text in _lines(path):
        words = text.split()
        if indented:
            callbacks[-1].parameters.append((words[0], ' '.join(words[1:])))
        elif '=' in words:
            callbacks.append(Callback(words[0], words[2], {}, []))
        else:
            callbacks.append(Callback(words[0], '', _attributes(words[1:]), []))
    return callbacks


def _read_options(path):
    options = []
    for where, _, text in _lines(path):
        words = shlex.split(text)
        if len(words) not in (5, 6):
            raise SpecError(f'{where}: an option needs name, type, default, unit and text')
        scope = words[5] if len(words) == 6 else 'local'
        if scope not in ('local', 'all_eq'):
            raise SpecError(f'{where}: the scope of an option is local or all_eq')
        options.append((*words[:5], scope))
    return options


def read_spec(folder):
    """All tables of one folder."""
    folder = pathlib.Path(folder)
    kinds, combinations = _read_kinds(folder / 'kinds.table')
    chapters = [_read_chapter(path) for path in sorted(folder.glob('*.api'))]
    chapters.sort(key=lambda chapter: (int(chapter.number), chapter.name))
    types = [tuple(text.split()) for _, _, text in _lines(folder / 'types.table')]
    spec = Spec(kinds, combinations, chapters, _read_constants(folder / 'constants.table'),
                _read_callbacks(folder / 'callbacks.table'), types,
                _read_options(folder / 'options.table'))
    _check(spec)
    return spec


def _check(spec):
    seen = set()
    for function in spec.functions():
        if function.name in seen:
            raise SpecError(f'{function.name} stands twice in the tables')
        seen.add(function.name)
        names = {parameter.name for parameter in function.parameters}
        for parameter in function.parameters:
            known = (parameter.kind in spec.kinds or parameter.kind == 'varargs'
                     or parameter.kind.startswith(('callback:', 'MPI_T_')))
            if not known:
                raise SpecError(f'{function.name}: unknown kind {parameter.kind}')
            for other in (parameter.length, parameter.unless_in_place, parameter.unless_no_op):
                if other and other not in names:
                    raise SpecError(f'{function.name}: {parameter.name} names {other}, '
                                    'which is no parameter')
