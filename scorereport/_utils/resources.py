"""Files that come with the package but are no code: templates, and recorded answers of R.

They stand at the top of the repository; a wheel carries them inside the package.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
#: Name in the package, and place in the repository.
_HOMES = {"templates": "templates", "recorded": "validation/recorded"}


def find_package_folder(name: str) -> Path:
    """The folder of that name: in the package if it was installed, else in the repository."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / _HOMES[name]
