# SPDX-License-Identifier: MIT
"""Imported by the examples in Python when there is no package roadvision: starts the script again through run.sh, which
builds what has changed, and tells GStreamer and Python where it is."""
import importlib.util
import os
import sys

if 'RV_RUN_BUILD' in os.environ:
    sys.exit('%s: the package roadvision of this tree is not found: PYTHONPATH must have its folder tools' % sys.argv[0])
_run = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'run.sh')
# Debian's Python has the modules of GStreamer; another one has them perhaps.
_python = sys.executable if importlib.util.find_spec('gi') else '/usr/bin/python3'
os.execv(_run, [_run, _python, *sys.orig_argv[1:]])
