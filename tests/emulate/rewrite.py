#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""rewrite.py INPUT OUTPUT DEPFILE COMPILER...: makes C++ of a .cu file for the emulator.

COMPILER... preprocesses; then what C++ has no word for is replaced, in the project's own lines:
  extern __shared__ T a[];            a pointer to the shared memory of the launch
  __shared__ T a, b[4];               references to variables of the block
  kernel<<<grid, block>>>(x);         a call of the emulator
  asm ("ld.shared.u32 %0, [%1];"...)  a call of ptx_ld_shared_u32 (emulate_ptx.h)
  while (x)                           lets other threads run now and then
Lines keep their numbers."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__)) + '/include/'
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..')) + '/'


def closing(text, start):
    """Index behind the parenthesis that closes the one at `start`; strings are skipped."""
    depth, i = 0, start
    while i < len(text):
        if text[i] == '"':
            i = re.compile(r'"(?:[^"\\]|\\.)*"', re.S).match(text, i).end()
            continue
        depth += (text[i] in '([{') - (text[i] in ')]}')
        i += 1
        if depth == 0:
            return i
    raise SystemExit('rewrite.py: no end of: ' + text[start:start + 80])


def split(text, by=','):
    """Parts between separators that are in no bracket, template argument or string."""
    parts, depth, angles, last = [], 0, 0, 0
    for m in re.finditer(r'"(?:[^"\\]|\\.)*"|[()\[\]{}<>]|' + by, text, re.S):
        token = m.group()
        if token in '([{':
            depth += 1
        elif token in ')]}':
            depth -= 1
        elif depth == 0 and token in '<>':
            angles += 1 if token == '<' else -1
        elif token == by and depth == angles == 0:
            parts.append(text[last:m.start()])
            last = m.end()
    return parts + [text[last:]]


def same_lines(old, new):
    """`new` with as many line ends as `old`."""
    return new.replace('\n', ' ') + '\n' * old.count('\n')


def dynamic_shared(text):
    pattern = (r'\bextern\s+__shared__\s+(?:__attribute__\s*\(\(aligned\s*\(\d+\)\)\)\s*)?'
               r'([\w:\s]+?)\s*\b(\w+)\s*\[\s*\]\s*;')
    return re.sub(pattern, lambda m: same_lines(
        m.group(), '%s *const %s = (%s *)emulate::dynamic_shared();' % (m[1], m[2], m[1])), text)


def static_shared(text):
    count = 0

    def replace(m):
        nonlocal count
        count += 1
        names = [re.match(r'.*?(\w+)\s*(?:\[.*)?$', part.strip(), re.S)[1] for part in split(m[1])]
        new = 'struct emulate_shared_%d { %s; } *emulate_at_%d = emulate::shared<emulate_shared_%d>();' % (
            count, m[1], count, count)
        for name in names:
            new += ' auto &%s = emulate_at_%d->%s;' % (name, count, name)
        return same_lines(m.group(), new)

    return re.sub(r'\b__shared__\b([^;{}]*);', replace, text)


def launches(text):
    """kernel<<<...>>>(...) where the kernel is a name, maybe with template arguments."""
    pattern = re.compile(r'(\b[\w:]+(?:<[^<>;{}]*>)?)\s*<<<')
    while True:
        m = pattern.search(text)
        if not m:
            return text
        end = text.index('>>>', m.end())
        start = re.compile(r'\s*\(').match(text, end + 3).end() - 1
        stop = closing(text, start)
        arguments = text[start + 1:stop - 1]
        new = 'emulate::Configured(%s)(%s%s)' % (
            text[m.end():end], m[1], ', ' + arguments if arguments.strip() else '')
        old = text[m.start():stop]
        missing = old.count('\n') - new.count('\n')
        text = text[:m.start()] + new + '\n' * missing + text[stop:]


def instruction(template):
    """ld.shared.u32 %0, [%1]; -> ptx_ld_shared_u32. Constants are part of the name."""
    lines = [re.sub(r'/\*.*?\*/', '', line).strip() for line in re.split(r'[;{}]\s*(?:\\n)?', template)]
    lines = [line for line in lines if line and not re.match(r'\.reg\b|selp\b|%|\[|,|\]', line)]
    if not lines:
        return None
    words = re.match(r'([\w.:]+)\s*(.*)', lines[0], re.S)
    constants = re.findall(r'(?:^|,)\s*(\d+)\s*(?=,|$)', words[2])
    return '_'.join(['ptx', re.sub(r'\W+', '_', words[1])] + constants)


def parenthesized(text, pattern, change):
    """change(head, inside) gives what replaces `head`, which `pattern` finds and which ends with an
    opening parenthesis, with what follows up to the closing one; and how much of that is done."""
    at = 0
    while True:
        m = re.compile(pattern).search(text, at)
        if not m:
            return text
        stop = closing(text, m.end() - 1)
        new, done = change(m.group(), text[m.end():stop - 1])
        text = text[:m.start()] + new + text[stop:]
        at = m.start() + done


def assembly(text):
    def change(head, inside):
        fields = split(inside, ':')
        template = ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', fields[0], re.S))
        operands = []
        for field in fields[1:3]:
            operands += [re.match(r'\s*"[^"]*"\s*\((.*)\)\s*$', part, re.S)[1]
                         for part in split(field) if part.strip()]
        name = instruction(template)
        new = '%s(%s)' % (name, ', '.join(operands)) if name else '((void)0)'
        return same_lines(head + inside + ')', new), 0

    return parenthesized(text, r'\basm\s*(?:volatile\s*)?\(', change)


def loops(text):
    return parenthesized(text, r'\bwhile\s*\(', lambda head, inside: (
        head + '::emulate::turn(), ' + inside + ')', len(head)))


def rewrite(text):
    """The project's lines; those of other headers, which the preprocessor's markers name, stay."""
    out, body = [], ''
    for part in re.split(r'^(?=# \d+ "[^\n]*\n)', text, flags=re.M):
        path = os.path.abspath(re.match(r'(?:# \d+ "([^"]*)")?', part)[1] or '')
        if path.startswith(ROOT) and not path.startswith(HERE):
            body += part
        else:
            out += [translated(body), part]
            body = ''
    return ''.join(out) + translated(body)


def translated(body):
    for step in (dynamic_shared, static_shared, launches, assembly, loops):
        body = step(body)
    return body


def main():
    source, target, depfile, *command = sys.argv[1:]
    text = subprocess.run(command + ['-x', 'c++', '-include', 'cuda_runtime.h', '-E', '-MD', '-MF', depfile, '-MT', target, source],
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    with open(target, 'w') as file:
        file.write(rewrite(text))


if __name__ == '__main__':
    main()
