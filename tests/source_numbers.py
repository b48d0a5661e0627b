#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Sizes of the sources, for comparisons over time:

    tests/source_numbers.py [REVISION...]    default: HEAD; a Markdown table, one column per revision

Lines are those of tracked files, comments and blank lines included. The length of a function counts from
its name to its closing brace."""
import collections
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
CODE = ('.c', '.h', '.cu', '.cuh', '.def', '.in')
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


def main():
    revisions = sys.argv[1:] or ['HEAD']
    columns = [counts(revision) for revision in revisions]
    print('| | %s |\n| --- |%s' % (' | '.join(revisions), ' --- |' * len(columns)))
    for name in columns[0]:
        print('| %s | %s |' % (name, ' | '.join(str(column[name]) for column in columns)))


if __name__ == '__main__':
    main()
