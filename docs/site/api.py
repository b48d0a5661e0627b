# SPDX-License-Identifier: MIT
"""Pages of the public headers, which are the manual of the library: one section per declaration with its comment, an
index of functions and types that links to them. Nothing is written twice; the search finds the headings."""
import os
import re

MACROS = {}  # of headers that declare functions: name -> (parameters, text)


def public_headers():
    """(folder, name) of the headers that are installed."""
    found = []
    for folder, _folders, names in sorted(os.walk('cuda')):
        if 'meson.build' not in names:
            continue
        with open(os.path.join(folder, 'meson.build')) as file:
            for files in re.findall(r'rv_headers \+?= files\(([^)]*)\)', file.read()):
                found += [(folder, name) for name in re.findall(r"'([^']+)'", files)]
    return found + [('gst/annotations', 'roadvision-gst.h')]


def without_comments(text):
    return re.sub(r'/\*.*?\*/', '', text, flags=re.S)


def blocks_of(text):
    """The parts of a header that blank lines outside of braces and comments separate; without guards and includes."""
    text = re.sub(r'#ifdef __cplusplus\n.*?\n#endif\n', '', text, flags=re.S)
    text = re.sub(r'\n#ifndef (\w+_H)\n#define \1\n', '\n', text)
    text = re.sub(r'\n(?:G_END_DECLS\n)?\s*#endif.*\s*\Z', '\n', text).replace('G_BEGIN_DECLS\n', '')
    parts = ['']
    for line in text.replace('/* SPDX-License-Identifier: MIT */\n', '').split('\n'):
        open_comment = parts[-1].count('/*') > parts[-1].count('*/')
        code = without_comments(parts[-1])
        open_if = len(re.findall(r'^#\s*if', code, re.M)) > len(re.findall(r'^#\s*endif', code, re.M))
        if line or open_comment or code.count('{') > code.count('}') or open_if:
            parts[-1] += line + '\n'
        elif parts[-1]:
            parts.append('')
    return [part for part in parts if part.strip()]


def expanded(code):
    """Code with the functions that this project's macros declare."""
    def declared(match):
        parameters, body = MACROS[match[1]]
        for parameter, value in zip(parameters, [value.strip() for value in match[2].split(',')]):
            body = re.sub(r'(?:##)?\b%s\b(?:##)?' % parameter, value, body)
        return expanded(body) + ';'
    return re.sub(r'\b(%s)\(([^)]*)\);?' % '|'.join(MACROS), declared, code) if MACROS else code


def macros_of(text):
    for name, parameters, body in re.findall(r'#\s*define (RV_\w+)\(([^)]*)\)((?:.*\\\n)+.*\n)', text):
        if 'RV_API' in body or 'RV_META_DECLARE_TYPE' in body:
            MACROS[name] = ([p.strip() for p in parameters.split(',')], body.replace('\\\n', ' '))


def names_in(block):
    """(functions, types) that a block declares."""
    code = re.sub(r'^\s*#\s*define(?:.*\\\n)*.*$', '', without_comments(block), flags=re.M)
    code = expanded(code)
    functions = re.findall(r'\b((?:gst_)?rv_\w+) ?\([^;{]*\);', code)
    types = re.findall(r'^\} (\w+);', code, re.M) + re.findall(r'^typedef \w[\w ]*\*?(Rv\w+);', code, re.M)
    return list(dict.fromkeys(functions)), list(dict.fromkeys(types))


def page_of(text, include, page, index):
    """The page as Markdown; adds (name, page) of functions and types to the index."""
    lines = ['# %s\n\n`#include "%s"`\n' % (include, include)]
    headings, level = set(), '##'
    for block in blocks_of(text):
        if re.fullmatch(r'(#\s*include .*\n)+', block):
            continue
        section = re.fullmatch(r'/\* --- (.*?) -*\s*\*/\n', block)
        if section:
            lines.append('## %s\n' % section[1])
            level = '###'
            continue
        known = {entry[1] for entry in index}
        functions, types = ([name for name in names if name not in known] for names in names_in(block))
        for kind, names in (('function', functions), ('type', types)):
            for name in names:
                lines.append('(%s)=\n' % name.lower())
                index.append((kind, name, page, include))
        names = types + functions
        if names:
            text_of = names[0] if len(names) < 4 or types else names[0].rsplit('_', 1)[0] + '_…'
            if 1 < len(names) < 4:
                text_of = ', '.join(names)
            if text_of not in headings:
                headings.add(text_of)
                lines.append('%s %s\n' % (level, text_of.replace('_', r'\_')))
        lines.append('```c\n%s```\n' % block)
    return '\n'.join(lines)


def table(index, kind, title):
    rows = sorted({'| {ref}`%s <%s>` | `%s` |' % (name, name.lower(), include) for k, name, _page, include in index if k == kind})
    return '## %s\n\n| %s | header |\n| --- | --- |\n%s\n' % (title, kind, '\n'.join(rows))


def main():
    os.makedirs('docs/api', exist_ok=True)
    texts, pages, index = [], [], []
    for folder, name in public_headers():
        path = os.path.join(folder, name)
        with open(path) as file:
            texts.append((file.read(), os.path.relpath(path, 'cuda') if folder.startswith('cuda') else name, name[:-2]))
        macros_of(texts[-1][0])
    for text, include, page in texts:
        pages.append(page)
        with open('docs/api/%s.md' % page, 'w') as file:
            file.write(page_of(text, include, page, index))
    with open('docs/api/index.md', 'w') as file:
        file.write('# C interfaces\n\nThe public headers are the manual: shapes, units, ranges, ownership, threads, errors.\n\n'
                   '```{toctree}\n:maxdepth: 1\n\n%s\n```\n\n%s\n%s' % ('\n'.join(pages), table(index, 'function', 'Functions'),
                                                                       table(index, 'type', 'Types')))


if __name__ == '__main__':
    main()
