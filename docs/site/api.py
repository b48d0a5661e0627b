# SPDX-License-Identifier: MIT
"""Pages of the public headers, which are the manual of the library, and the index of their functions."""
import os
import re


def public_headers():
    """(folder, path as programs include it) of the headers that are installed."""
    found = []
    for folder, _folders, names in sorted(os.walk('cuda')):
        if 'meson.build' not in names:
            continue
        with open(os.path.join(folder, 'meson.build')) as file:
            for files in re.findall(r'rv_headers \+?= files\(([^)]*)\)', file.read()):
                found += [(folder, name) for name in re.findall(r"'([^']+)'", files)]
    return found + [('gst/annotations', 'roadvision-gst.h')]


def main():
    os.makedirs('docs/api', exist_ok=True)
    rows, pages = [], []
    for folder, name in public_headers():
        path = os.path.join(folder, name)
        with open(path) as file:
            text = file.read()
        page = name[:-2].replace('.', '-')
        pages.append(page)
        include = os.path.relpath(path, 'cuda') if folder.startswith('cuda') else name
        with open('docs/api/%s.md' % page, 'w') as file:
            file.write('# %s\n\n`#include "%s"`\n\n```{literalinclude} ../../%s\n:language: c\n```\n' % (include, include, path))
        for function in re.findall(r'\b((?:gst_)?rv_\w+) ?\([^;{]*\);', re.sub(r'/\*.*?\*/', '', text, flags=re.S)):
            rows.append('| [`%s`](%s.md) | `%s` |' % (function, page, include))
    with open('docs/api/index.md', 'w') as file:
        file.write('# C interfaces\n\nThe public headers are the manual: shapes, units, ranges, ownership, threads, errors.\n\n'
                   '```{toctree}\n:maxdepth: 1\n\n%s\n```\n\n## Functions\n\n| function | header |\n| --- | --- |\n%s\n' % (
                       '\n'.join(pages), '\n'.join(sorted(set(rows)))))


if __name__ == '__main__':
    main()
