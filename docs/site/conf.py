# SPDX-License-Identifier: MIT
"""The documents as a site: docs/site/build.sh."""
import re

with open('meson.build') as file:
    release = re.search(r"version : '([^']+)'", file.read())[1]
project = 'gst-roadvision'
copyright = '2026 The gst-roadvision developers'
extensions = ['myst_parser']
root_doc = 'docs/site/index'
source_suffix = {'.md': 'markdown', '.rst': 'restructuredtext'}
include_patterns = None
exclude_patterns = ['build*', '.github', 'debian', 'tests', 'cuda', 'gst']
myst_heading_anchors = 4
myst_enable_extensions = ['colon_fence']
html_theme = 'sphinx_rtd_theme'
html_theme_options = {'navigation_depth': 2, 'collapse_navigation': True}
html_title = 'gst-roadvision ' + release
html_copy_source = False
html_show_sphinx = False
html_static_path = ['docs/site/static']
html_css_files = ['site.css']
highlight_language = 'none'
del include_patterns
