"""Configuration of Sphinx for the documentation site; `make docs-site` builds it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from scorereport._utils.version import package_version

project = "scorereport"
author = "The scorereport developers"
version = release = package_version()
html_title = f"scorereport {release}"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "validation.documentation.api_reference",
    "validation.documentation.executed_pages",
    "validation.documentation.topic_index",
]
executed_pages = ["gallery", "guide", "how-to", "messages", "tutorials"]

myst_heading_anchors = 4  # the anchors that GitHub has
myst_enable_extensions = ["deflist"]
suppress_warnings = ["myst.header"]  # terms of the glossary are headings of level 3 below the first

default_role = "code"  # single backquotes in docstrings
autodoc_typehints = "none"  # the descriptions of parameters state them
autodoc_member_order = "alphabetical"
autodoc_default_options = {"members": True}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False
napoleon_use_ivar = True
napoleon_preprocess_types = False
python_maximum_signature_line_length = 88

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
