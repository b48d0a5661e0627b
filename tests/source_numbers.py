#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Sizes of the sources, for comparisons over time:

    tests/source_numbers.py [REVISION...]    default: HEAD; a Markdown table, one column per revision
    tests/source_numbers.py --repeated [REVISION]    the pairs of places that share lines

Lines are those of tracked files, comments and blank lines included. The length of a function counts from
its name to its closing brace. Two places share lines if at least six in a row, without comments, blank
lines and imports, are equal after consistent renaming and with any numbers and texts, and have at least 21
names and numbers together: fewer are punctuation. Six lines that more than eight places have do not count."""
import collections
import itertools
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
CODE = ('.c', '.h', '.cu', '.cuh', '.def', '.in')
RUN, WORDS, PLACES = 6, 21, 8  # lines, names and numbers in them, most places
KEPT = set('if else for while do switch case default return break continue goto sizeof struct union enum typedef '
           'static const inline extern void int char short long unsigned float double bool auto template class define '
           'ifdef ifndef endif elif def in not and or is None True False self lambda try except raise with as pass '
           'NULL nullptr size_t uint8_t uint16_t uint32_t uint64_t int16_t int32_t'.split())
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[A-Za-z_]\w*|\d[\w.]*|\S')
Function = collections.namedtuple('Function', 'name line length cuda')


def functions(text):
    """Functions of C and CUDA in the project's format: the body opens on the line that closes the
    parameters, and closes in column 0."""
    lines, found, start = text.split('\n'), [], None
    for at, line in enumerate(lines):
        if line == '}' and start is not None:
            found.append(Function(*start[:2], at - start[1] + 2, start[2]))
            start = None
        if start is None and re.match(r'[A-Za-z_].*\(', line) and not re.match(
                r'(struct|enum|typedef|static_assert|namespace)\b', line):
            head, body = line, at
            while head.count('(') > head.count(')') and body + 1 < len(lines):
                body += 1
                head += ' ' + lines[body]
            if head.endswith('{') and ' = ' not in head.split('(')[0]:
                names = [name for name in re.findall(r'(\w+)\(', head) if not name.startswith('__')]
                around = lines[max(0, at - 1)] + head
                start = (names[0] if names else '?', at + 1,
                         '__global__' in around or '__device__' in around)
    return found


def git(*arguments):
    return subprocess.run(['git', '-C', ROOT, *arguments], check=True, stdout=subprocess.PIPE).stdout


def files_of(revision):
    """Path -> text of the tracked files of a revision that are text."""
    files = {}
    for path in git('ls-tree', '-r', '--name-only', revision).decode().splitlines():
        if not path.endswith(('.png', '.mcap', '.jpg')) and 'corpus/' not in path:
            files[path] = git('show', '%s:%s' % (revision, path)).decode(errors='replace')
    return files


def is_test_of_library(path):
    """In older trees tests of the library were among its files."""
    return path.startswith('cuda/') and re.search(
        r'_(cases|twin|reference|contract|bench|peers|inputs|pictures|drive|hash|tool|model|test)\b', path)


def area(path):
    if path.startswith('tests/') or is_test_of_library(path):
        return 'tests'
    return {'cuda': 'library', 'gst': 'elements'}.get(path.split('/')[0])


def counts(revision):
    files = files_of(revision)
    row = collections.OrderedDict()
    for name in ('library', 'elements', 'tests'):
        code = [text for path, text in files.items() if area(path) == name and (
            path.endswith(CODE) or name == 'tests' and path.endswith(('.py', '.sh')))]
        row['lines: ' + name] = sum(text.count('\n') for text in code)
    product = [path for path in files if path.startswith('cuda/')]
    row['files under cuda/'] = len(product)
    row['of them tests'] = sum(1 for path in product if is_test_of_library(path))
    kinds = {os.path.splitext(path)[0].rsplit('_', 1)[-1] for path in files if '_' in path.split('/')[-1] and (
        path.startswith('tests/library/') or is_test_of_library(path))}
    long = [f for path, text in files.items() if path.endswith(('.c', '.h', '.cu', '.cuh'))
            for f in functions(text)]
    row['functions'] = len(long)
    row['C functions over 60 lines'] = sum(1 for f in long if f.length > 60 and not f.cuda)
    row['CUDA functions over 100 lines'] = sum(1 for f in long if f.length > 100 and f.cuda)
    row['files over 600 lines'] = sum(1 for path, text in files.items()
                                      if path.endswith(CODE + ('.py', '.sh')) and text.count('\n') > 600)
    return row


def code_lines(path, text):
    """(number, tokens) of the lines that count."""
    def blank(match):
        return match[0] if match[0][0] == '"' and not match[0].startswith('"""') else '\n' * match[0].count('\n')
    if path.endswith(CODE + ('.cpp',)):
        text = re.sub(r'"(?:[^"\\\n]|\\.)*"|/\*.*?\*/|//[^\n]*', blank, text, flags=re.S)
    else:
        text = re.sub(r'""".*?"""', blank, re.sub(r'^\s*#.*$', '', text, flags=re.M), flags=re.S)
    return [(number, TOKEN.findall(line)) for number, line in enumerate(text.split('\n'), 1)
            if line.strip() and not re.match(r'\s*(#\s*include|import |from [\w.]+ import|gi\.require_version|sys\.path)', line)]


def renamed(lines):
    """Names by their first use, numbers and texts alike."""
    names = {}
    return tuple(tuple('s' if token[0] in '"\'' else '0' if token[0].isdigit() else
                       token if token in KEPT or not re.match(r'\w', token) else
                       names.setdefault(token, 'n%d' % len(names)) for token in line) for line in lines)


def repeated(revision):
    """(number of files, [(file, line, other file, its line, lines)]), longest first."""
    files = {path: code_lines(path, text) for path, text in files_of(revision).items()
             if path.split('/')[0] in ('cuda', 'gst', 'tests', 'tools', 'examples') and
             path.endswith(CODE + ('.cpp', '.py', '.sh', '.build'))}
    places = collections.defaultdict(list)
    for path, lines in files.items():
        words = [sum(1 for token in tokens if re.match(r'\w', token)) for _number, tokens in lines]
        for at in range(len(lines) - RUN + 1):
            if sum(words[at:at + RUN]) >= WORDS:
                places[renamed(tokens for _number, tokens in lines[at:at + RUN])].append((path, at))
    starts = collections.defaultdict(set)  # (file, other file, distance) -> first lines of shared runs
    for found in places.values():
        for (path, at), (other, there) in itertools.combinations(sorted(found) if len(found) <= PLACES else (), 2):
            if path != other or there - at >= RUN:
                starts[path, other, there - at].add(at)
    pairs = []
    for (path, other, distance), found in starts.items():
        for at in sorted(found):
            if at - 1 not in found:
                length = next(n for n in itertools.count(1) if at + n not in found) + RUN - 1
                pairs.append((path, files[path][at][0], other, files[other][at + distance][0], length))
    return len(files), sorted(pairs, key=lambda pair: (-pair[4], pair))


def show_repeated(revision):
    count, pairs = repeated(revision)
    for pair in pairs:
        print('%s:%d %s:%d %d lines' % pair)
    print('%d pairs of places, %d pairs of files, in %d files' % (len(pairs), len({(a, b) for a, _, b, _, _ in pairs}), count))


def main():
    if sys.argv[1:2] == ['--repeated']:
        return show_repeated((sys.argv[2:] or ['HEAD'])[0])
    revisions = sys.argv[1:] or ['HEAD']
    columns = [counts(revision) for revision in revisions]
    print('| | %s |\n| --- |%s' % (' | '.join(revisions), ' --- |' * len(columns)))
    for name in columns[0]:
        print('| %s | %s |' % (name, ' | '.join(str(column[name]) for column in columns)))


if __name__ == '__main__':
    main()
