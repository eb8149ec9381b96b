# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Manual pages: one for each function (section 3), one of the environment variables, one for each program (section 1).

Functions are described by spec/ alone: what each does (summaries.table), its prototypes and what its arguments may be; those
of mpi-ext.h by the comments of that header. Programs are their documents of docs/ in another form.
"""

import re

import fortran_reader
import prototypes
import spec_reader

OBJECTS = ('comm', 'win', 'file', 'session')
DIRECTIONS = {'in': 'in', 'out': 'out', 'inout': 'in, out'}


def read_summaries(path):
    """What each function does, in a line, by its name."""
    summaries = {}
    for line in path.read_text().splitlines():
        name, colon, text = line.partition(' : ')
        if colon and not line.startswith('#'):
            summaries[name] = text
    return summaries


def blocking_form(name):
    """The function that a non-blocking or persistent one is a form of, and how it differs; or nothing."""
    if name.endswith('_init'):
        return name[:-len('_init')], 'makes a persistent request for {}'
    match = re.match(r'MPI_I([a-z]\w*)$', name)
    if match:
        return 'MPI_' + match[1].capitalize(), 'starts {} and returns a request'
    return None


def summary(summaries, name):
    if name in summaries:
        return summaries[name]
    base, form = blocking_form(name) or ('', '')
    if base not in summaries:
        raise spec_reader.SpecError(f'{name} has no line in summaries.table')
    return form.format(base)


def text(line):
    """A line as roff: nothing in it is a request or an escape."""
    line = line.replace('\\', '\\e').replace('-', '\\-')
    return '\\&' + line if line.startswith(('.', "'")) else line


def _verbatim(lines):
    return ['.nf', '.RS', *map(text, lines), '.RE', '.fi']


def _fortran_call(procedure):
    names = ', '.join(argument.name for argument in procedure.arguments)
    return f'call {procedure.name}({names})' if procedure.arguments else f'call {procedure.name}()'


def _meaning(spec, parameter):
    if parameter.kind.startswith('callback:'):
        return 'a function'
    kind = spec.kinds.get(parameter.kind)
    meaning = kind.meaning if kind else 'an object of the tool interface'
    if parameter.is_array and parameter.length:
        meaning = f'array of {parameter.length}: {meaning}'
    notes = {'root': 'significant at the root only', 'leaf': 'not significant at a root of another group',
             'member': 'significant in processes that take part only'}
    if parameter.at:
        meaning += f'; {notes[parameter.at]}'
    if parameter.unless_in_place:
        meaning += f'; not significant where {parameter.unless_in_place} is MPI_IN_PLACE'
    if parameter.unless_no_op:
        meaning += f'; not significant where {parameter.unless_no_op} is MPI_NO_OP'
    return meaning


def _returns(function):
    if function.returns != 'int' or function.chapter.style == 'tool':
        return 'The result.' if function.returns != 'int' else 'MPI_SUCCESS, or an error code of the tool interface.'
    of = next((parameter.name for parameter in function.parameters
               if parameter.kind.partition('_')[0] in OBJECTS and parameter.direction != 'out'), '')
    raised = f'the error handler of {of}' if of else 'an error handler (MPI 5.0, 9.3)'
    return f'MPI_SUCCESS, or an error code after {raised} has been called. MPI_Error_string tells what was wrong and what helps.'


def _notes(function, summaries):
    if function.has('deprecated'):
        yield f'Deprecated since MPI {function.attributes["deprecated"]}.'
    if function.has('agree') or function.has('announce') or function.has('join'):
        yield 'Collective: all processes of the object call it, in the same order among its collective calls.'
    if function.has('makes'):
        yield 'Collective: succeeds in all processes or fails in all.'
    if blocking_form(function.name) and function.name not in summaries:
        yield 'The buffers belong to the library until the operation is complete.'
    if function.attributes.get('when') == 'any':
        yield 'May be called before MPI is started and after it has ended.'
    if function.has('missing'):
        yield 'Does not work yet in this version of Fulmar: it fails with MPI_ERR_UNSUPPORTED_OPERATION.'
    yield f'Since MPI {function.attributes["since"].replace(".x", "")}.'


def write_function(spec, summaries, function, fortran, version):
    name = function.name
    lines = [f'.TH {name} 3 "" "Fulmar {version}" "MPI"', '.SH NAME', f'{name} \\- {text(summary(summaries, name))}',
             '.SH SYNOPSIS', '.B C', *_verbatim(['#include <mpi.h>', ''])]
    for symbol in prototypes.forms(function):
        lines += _verbatim(prototypes.wrap(prototypes.prototype(spec, symbol) + ';', '', 76).splitlines())
    if fortran:
        lines += ['.B Fortran', *_verbatim(['use mpi_f08', *prototypes.wrap(_fortran_call(fortran), '', 76).splitlines()])]
    if function.parameters:
        lines.append('.SH ARGUMENTS')
    for parameter in function.parameters:
        if parameter.kind == 'varargs':
            continue
        lines += ['.TP', f'.IR {parameter.name} " ({DIRECTIONS[parameter.direction]})"', text(_meaning(spec, parameter))]
    lines += ['.SH RETURN VALUE', text(_returns(function)), '.SH NOTES']
    for note in _notes(function, summaries):
        lines += ['.PP', text(note)]
    lines += ['.SH SEE ALSO', f'MPI 5.0, chapter {function.chapter.number} ({text(function.chapter.title)});',
              '.BR mpiexec (1),', '.BR fulmar (7)', '']
    return '\n'.join(lines)


def write_variables(spec, version):
    """fulmar(7): the environment variables."""
    lines = [f'.TH fulmar 7 "" "Fulmar {version}" "MPI"', '.SH NAME', 'fulmar \\- environment variables of the Fulmar MPI library',
             '.SH DESCRIPTION', 'No variable has to be set. Each is also a control variable of MPI_T;',
             '.B fulmar info', 'shows the values in effect and where they came from.', '.SH ENVIRONMENT']
    for name, _, default, unit, meaning, scope in spec.options:
        value = f'Default: {default}{" " + unit if unit else ""}.' if default else 'Not set by default.'
        same = ' The same in all processes.' if scope == 'all_eq' else ''
        lines += ['.TP', f'.B {name}', text(f'{meaning} {value}{same}')]
    return '\n'.join([*lines, '.SH SEE ALSO', '.BR mpiexec (1)', ''])


def _inline(line):
    """Markdown inside a line: links lose their targets, code is bold."""
    line = re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', line)
    parts = line.split('`')
    return ''.join(f'\\fB{text(part)}\\fR' if index % 2 else text(part).removeprefix('\\&') if index else text(part)
                   for index, part in enumerate(parts))


def _table(rows):
    for row in rows[2:]:  # a head and a line of dashes
        first, *others = [cell.strip() for cell in re.split(r'(?<!\\)\|', row.strip())[1:-1]]
        yield from ('.TP', _inline(first) or '\\&', _inline('; '.join(filter(None, others))) or '\\&')


def from_markdown(title, name, markdown, version, section=1):
    """A document of docs/ as a manual page."""
    lines = [f'.TH {title} {section} "" "Fulmar {version}" "MPI"', '.SH NAME', name, '.SH DESCRIPTION']
    for block in re.split(r'\n\s*\n', markdown.split('\n', 1)[1].strip('\n')):
        rows = block.split('\n')
        if rows[0].startswith('#'):
            lines += [f'.SH {_inline(rows[0].lstrip("# ")).upper()}']
            rows = rows[1:]
        if not rows:
            continue
        if rows[0].startswith('|'):
            lines += _table(rows)
        elif rows[0].startswith('    '):
            lines += _verbatim([row[4:] for row in rows])
        elif rows[0].startswith(('* ', '- ')):
            for item in re.split(r'\n(?=[*-] )', '\n'.join(rows)):
                lines += ['.IP \\(bu 2', _inline(' '.join(item[2:].split()))]
        else:
            lines += ['.PP', _inline(' '.join(rows))]
    return '\n'.join([*lines, ''])


# The comment ahead of each function of mpi-ext.h.
_EXTENSION = re.compile(r'/\* ((?:(?!\*/).)*) \*/\n((?:int MPIX_\w+\([^;]*\);\n?)+)', re.S)


def write_extensions(header, version):
    """(name, page) for each function of mpi-ext.h."""
    for match in _EXTENSION.finditer(header):
        described = ' '.join(line.strip(' *') for line in match[1].split('\n'))
        for prototype in match[2].split('\n'):
            name = re.match(r'int (MPIX_\w+)', prototype)
            if name:
                checkpoint = name[1].startswith('MPIX_Checkpoint')
                about = 'checkpoints of all processes of a job' if checkpoint else 'recovery from failures of processes (ULFM)'
                handled = 'MPI_COMM_WORLD' if checkpoint else 'comm'
                yield name[1], '\n'.join([
                    f'.TH {name[1]} 3 "" "Fulmar {version}" "MPI"', '.SH NAME', f'{name[1]} \\- {about}',
                    '.SH SYNOPSIS', *_verbatim(['#include <mpi-ext.h>', '', prototype]), '.SH DESCRIPTION', _inline(described),
                    '.SH RETURN VALUE', text(f'MPI_SUCCESS, or an error code after the error handler of {handled} has been called.'),
                    '.SH SEE ALSO', '.BR fulmar (7)', ''])


# The documents that are pages of programs, with other names of these.
PROGRAMS = {'mpiexec': (('mpirun',), 'mpiexec, mpirun \\- start an MPI program'),
            'mpicc': (('mpicxx', 'mpic++', 'mpiCC', 'mpifort', 'mpif77', 'mpif90'),
                      'mpicc, mpicxx, mpifort \\- compile and link MPI programs'),
            'fulmar': ((), 'fulmar \\- information, a check of the machine, and benchmarks')}
# Beside MPI: the documents that are pages of section 7.
INTERFACES = {'rwapi': 'remote writes into memory of other processes', 'sisci': 'shared segments, DMA and interrupts',
              'vipl': 'the provider library of the VI Architecture'}


def write_pages(spec, folder, version):
    """(path below man, text) of all pages. `folder` is spec/."""
    summaries = read_summaries(folder / 'summaries.table')
    in_fortran = {procedure.name: procedure
                  for procedure in fortran_reader.procedures(spec, fortran_reader.read_table(folder / 'fortran.table'))}
    for function in spec.functions():
        yield f'man3/{function.name}.3', write_function(spec, summaries, function, in_fortran.get(function.name), version)
        if function.has('large'):
            yield f'man3/{function.name}_c.3', f'.so man3/{function.name}.3\n'
    yield 'man7/fulmar.7', write_variables(spec, version)
    for name, page in write_extensions((folder.parent / 'include' / 'mpi-ext.h').read_text(), version):
        yield f'man3/{name}.3', page
    for name, (others, what) in PROGRAMS.items():
        document = (folder.parent / 'docs' / f'{name}.md').read_text()
        yield f'man1/{name}.1', from_markdown(name, what, document, version)
        for other in others:
            yield f'man1/{other}.1', f'.so man1/{name}.1\n'
    for name, what in INTERFACES.items():
        document = (folder.parent / 'docs' / 'interfaces' / f'{name}.md').read_text()
        yield f'man7/{name}.7', from_markdown(name, f'{name} \\- {what}', document, version, 7)
