"""The five papers as lines of the study name them; `scores.references` says where they appeared."""

from __future__ import annotations

AHMADIAN = "Ahmadian et al. (2025)"
DIMITRIADIS = "Dimitriadis et al. (2021)"
FLORES = "Flores et al. (2025)"
GALDRAN = "Galdran (2023)"
NELSON = "Nelson (2017)"
