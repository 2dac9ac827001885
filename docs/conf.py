"""How `make docs` builds the site: the guides of this folder, and a reference from the docstrings. Out: build/docs."""

import formatter

project = "formatter"
author = "The formatter authors"
release = formatter.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
html_theme = "furo"
html_title = f"formatter {release}"
html_show_sphinx = False
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_numpy_docstring = False
# The guides' Spark examples print tables; their language is not always one that can be coloured.
suppress_warnings = ["misc.highlighting_failure"]
