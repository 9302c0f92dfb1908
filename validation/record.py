"""Record answers of the R package: `python -m validation.record` writes recorded/reliabilitydiag.json.

The cases are seeded, small and of every shape; levels vary. The test suite and the certificate read the
record on machines without R.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from scorereport._utils import json_documents
from scorereport._utils.files import write_text
from scorereport.reference.live_references import PACKAGE, Reference, open_reference
from scorereport.reference.questions import Answer, Question, read_answer
from scorereport.study.seeded_cases import Case, draw_cases

TARGET = Path(__file__).parent / "recorded" / "reliabilitydiag.json"
SEED, CASES, MOST_ROWS = 20261115, 44, 250
LEVELS = (0.9, 0.95, 0.8)
COSTS = (0.1, 0.3)
#: Resampled bands are recorded for one case in this many: each is compared with a thousand draws.
RESAMPLED_EVERY, DRAWS = 13, 200


def main() -> None:
    """Ask R about all cases and write its answers."""
    with open_reference(PACKAGE, time_limit=300) as reference:
        cases = [_record(reference, number, case) for number, case in enumerate(draw_cases(CASES, SEED))]
        software = {name: reference.software[name] for name in ("R", "reliabilitydiag", "monotone", "rpy2")}
    write_text(TARGET, json_documents.dump({"seed": SEED, "software": software, "cases": cases}))
    print(f"{TARGET}: {len(cases)} cases by reliabilitydiag {software['reliabilitydiag']}, R {software['R']}")


def _record(reference: Reference, number: int, case: Case) -> dict[str, Any]:
    question = Question(
        y_true=case.y_true[:MOST_ROWS],
        y_prob=case.y_prob[:MOST_ROWS].astype(np.float64),
        level=LEVELS[number % len(LEVELS)],
        costs=COSTS,
        draws=DRAWS if number % RESAMPLED_EVERY == 0 else 0,
        seed=SEED,
    )
    answer = read_answer(reference.ask(question), question)
    return {
        "name": case.name,
        "question": {
            name: getattr(question, name) for name in ("y_true", "y_prob", "level", "costs", "draws", "seed")
        },
        "answer": _answer(answer),
    }


def _answer(answer: Answer) -> dict[str, Any]:
    return {
        "scores": answer.scores,
        "bins": answer.bins,
        "cep": answer.cep,
        "totals": answer.totals,
        "auc": answer.auc,
        "murphy": answer.murphy,
        "bands": answer.bands,
    }


if __name__ == "__main__":
    main()
