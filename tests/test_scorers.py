"""Scorers of scikit-learn: the sign, the classes, weights, folds and routing, against scores of arrays."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import d2_log_loss_score, get_scorer, make_scorer
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score, cross_validate

import scorereport as sr
from scorereport.scores import REGISTRY, Direction, Kind

X, Y = make_classification(120, 4, flip_y=0.3, random_state=5)
W = np.random.default_rng(6).integers(0, 4, 120).astype(float)
MODEL = LogisticRegression().fit(X, Y)
P = MODEL.predict_proba(X)
IRIS_X, IRIS_Y = load_iris(return_X_y=True)
IRIS = LogisticRegression(C=0.05).fit(IRIS_X[:, :2], IRIS_Y)
IRIS_P = IRIS.predict_proba(IRIS_X[:, :2])
IRIS_W = np.random.default_rng(7).integers(0, 4, 150).astype(float)

OF_EVENTS = [name for name in sr.scorers.binary if not name.endswith("_skill")]
OF_CLASSES = [name for name in sr.scorers.multiclass if not name.endswith("_skill")]


def mean_of(name, y, p, weight=None, **options):
    """The mean of a score of arrays, with the sign of a scorer."""
    entry = REGISTRY[name]
    if entry.per_case:
        mean = np.average(entry.function(y, p, **options), weights=weight)
    else:
        mean = entry.function(y, p, sample_weight=weight, **options)
    return mean if entry.direction is Direction.HIGHER else -mean


@pytest.mark.parametrize("name", OF_EVENTS)
@pytest.mark.parametrize("weight", [None, W], ids=["plain", "weighted"])
def test_a_scorer_of_events_is_the_mean_score_and_higher_is_better(name, weight):
    found = sr.scorers[name](MODEL, X, Y, sample_weight=weight)
    assert found == pytest.approx(mean_of(name, Y, P[:, 1], weight), rel=1e-13)
    reverse = LogisticRegression().fit(X, 1 - Y)
    assert found > sr.scorers[name](reverse, X, Y, sample_weight=weight)


@pytest.mark.parametrize("name", OF_CLASSES)
@pytest.mark.parametrize("weight", [None, IRIS_W], ids=["plain", "weighted"])
def test_a_scorer_of_classes_is_the_mean_score(name, weight):
    found = sr.scorers[name](IRIS, IRIS_X[:, :2], IRIS_Y, sample_weight=weight)
    assert found == pytest.approx(mean_of(name, IRIS_Y, IRIS_P, weight), rel=1e-13)


@pytest.mark.parametrize("name", OF_CLASSES)
def test_a_scorer_of_classes_takes_two_classes(name):
    found = sr.scorers[name](MODEL, X, Y)
    assert found == pytest.approx(mean_of(name, Y, np.column_stack([1 - P[:, 1], P[:, 1]])), rel=1e-13)


@pytest.mark.parametrize("name", [n for n in sr.scorers.binary if n.endswith("_skill")])
@pytest.mark.parametrize("weight", [None, W], ids=["plain", "weighted"])
def test_a_scorer_of_a_skill_is_the_skill(name, weight):
    score = name.removesuffix("_skill")
    expected = sr.skill(Y, P[:, 1], score, sample_weight=weight)
    assert sr.scorers[name](MODEL, X, Y, sample_weight=weight) == pytest.approx(expected, rel=1e-13)


def test_the_skill_of_classes_is_that_of_an_evaluation():
    frame = pd.DataFrame({"y": IRIS_Y, **{f"m_{k}": IRIS_P[:, k] for k in range(3)}})
    evaluation = sr.evaluate(frame, outcome="y", forecasts=["m"], classes=range(3), ordered=True, resamples=0)
    table = evaluation.skills.loc["m"]
    for name in ("multiclass_brier", "multiclass_log_loss", "rps", "multiclass_spherical"):
        found = sr.scorers[f"{name}_skill"](IRIS, IRIS_X[:, :2], IRIS_Y)
        assert found == pytest.approx(table[name], rel=1e-12)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("brier", "neg_brier_score"), ("log_loss", "neg_log_loss"), ("roc_auc", "roc_auc")],
)
def test_folds_have_the_scores_of_scikit_learn(ours, theirs):
    found = cross_val_score(LogisticRegression(), X, Y, scoring=sr.scorers[ours])
    np.testing.assert_allclose(found, cross_val_score(LogisticRegression(), X, Y, scoring=theirs), rtol=1e-12)


def test_the_skill_of_the_log_score_is_the_explained_deviance_of_scikit_learn():
    found = sr.scorers["log_loss_skill"](MODEL, X, Y)
    assert found == pytest.approx(d2_log_loss_score(Y, P), rel=1e-12)


def test_log_scores_of_classes_are_those_of_scikit_learn():
    found = sr.scorers["multiclass_log_loss"](IRIS, IRIS_X[:, :2], IRIS_Y)
    assert found == pytest.approx(get_scorer("neg_log_loss")(IRIS, IRIS_X[:, :2], IRIS_Y), rel=1e-12)


# Labels


def test_labels_of_any_type_are_found_by_the_classes_of_the_estimator():
    expected = sr.scorers["brier"](MODEL, X, Y)
    for labels in (np.array(["no", "yes"]), np.array([-1, 1]), np.array([False, True])):
        model = LogisticRegression().fit(X, labels[Y])
        assert sr.scorers["brier"](model, X, labels[Y]) == expected


def test_the_event_is_the_last_class_unless_another_is_given():
    labels = np.array(["good", "bad"])[Y]  # sorted, the last is "good"
    model = LogisticRegression().fit(X, labels)
    p = model.predict_proba(X)[:, 0]
    assert sr.scorers.make("log_loss", pos_label="bad")(model, X, labels) == mean_of("log_loss", Y, p)
    net_benefit = sr.scorers.make("net_benefit", threshold=0.3, pos_label="bad")
    assert net_benefit(model, X, labels) == mean_of("net_benefit", Y, p, threshold=0.3)
    assert net_benefit(model, X, labels) != sr.scorers.make("net_benefit", threshold=0.3)(model, X, labels)


def test_ordered_classes_may_have_an_order_of_their_own():
    labels = np.array(["low", "middle", "high"])[IRIS_Y]  # sorted: high, low, middle
    model = LogisticRegression(C=0.05).fit(IRIS_X[:, :2], labels)
    scorer = sr.scorers.make("rps", classes=["low", "middle", "high"])
    p = model.predict_proba(IRIS_X[:, :2])[:, [1, 2, 0]]
    assert scorer(model, IRIS_X[:, :2], labels) == pytest.approx(mean_of("rps", IRIS_Y, p), rel=1e-14)
    assert scorer(model, IRIS_X[:, :2], labels) != sr.scorers["rps"](model, IRIS_X[:, :2], labels)


def test_a_fold_without_one_of_the_classes_is_scored():
    order = np.argsort(Y, kind="stable")
    folds = cross_validate(
        MODEL,
        X[order],
        Y[order],
        scoring=sr.scorers["brier"],
        cv=[(range(120), range(30)), (range(120), range(90, 120))],
    )
    assert np.isfinite(folds["test_score"]).all()
    some = np.flatnonzero(IRIS_Y != 1)
    assert np.isfinite(sr.scorers["multiclass_brier"](IRIS, IRIS_X[some, :2], IRIS_Y[some]))


# In the hands of scikit-learn


def test_all_scorers_can_be_used_at_once():
    found = cross_validate(LogisticRegression(), X, Y, cv=3, scoring=dict(sr.scorers))
    assert found.keys() == {"fit_time", "score_time", *(f"test_{name}" for name in sr.scorers)}
    assert all(np.isfinite(found[f"test_{name}"]).all() for name in sr.scorers)


def test_the_scorers_of_several_classes_can_be_used_at_once():
    folds = KFold(3, shuffle=True, random_state=1)
    found = cross_validate(
        LogisticRegression(), IRIS_X[:, :2], IRIS_Y, cv=folds, scoring=sr.scorers.multiclass
    )
    assert all(np.isfinite(found[f"test_{name}"]).all() for name in sr.scorers.multiclass)


def test_several_scorers_predict_once():
    class Counting(LogisticRegression):
        calls = 0

        def predict_proba(self, X):  # noqa: N803
            type(self).calls += 1
            return super().predict_proba(X)

    cross_validate(Counting(), X, Y, cv=2, scoring=sr.scorers.binary)
    assert Counting.calls == 2


def test_a_grid_search_finds_the_best_score():
    grid = {"C": [1e-4, 0.1, 10]}
    search = GridSearchCV(
        LogisticRegression(),
        grid,
        scoring={"brier": sr.scorers["brier"], "auc": sr.scorers["roc_auc"]},
        refit="brier",
    ).fit(X, Y)
    theirs = GridSearchCV(LogisticRegression(), grid, scoring="neg_brier_score").fit(X, Y)
    assert search.best_params_ == theirs.best_params_
    np.testing.assert_allclose(search.cv_results_["mean_test_brier"], theirs.cv_results_["mean_test_score"])
    assert clone(search).get_params()["scoring"].keys() == {"brier", "auc"}


def test_weights_are_routed_to_a_scorer():
    with config_context(enable_metadata_routing=True):
        scorer = sr.scorers["brier"].set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        found = cross_validate(model, X, Y, cv=3, params={"sample_weight": W + 1}, scoring={"b": scorer})
        plain = cross_validate(model, X, Y, cv=3, params={}, scoring={"b": sr.scorers["brier"]})
    expected = []
    for train, test in StratifiedKFold(3).split(X, Y):
        fitted = LogisticRegression().fit(X[train], Y[train])
        expected.append(sr.scorers["brier"](fitted, X[test], Y[test], sample_weight=(W + 1)[test]))
    np.testing.assert_allclose(found["test_b"], expected, rtol=1e-12)
    assert (found["test_b"] != plain["test_b"]).all()


def test_a_scorer_can_be_pickled_and_copied():
    scorer = sr.scorers.make("net_benefit", threshold=0.2, pos_label=1)
    again = pickle.loads(pickle.dumps(scorer))
    assert again(MODEL, X, Y) == clone(scorer, safe=False)(MODEL, X, Y) == scorer(MODEL, X, Y)
    assert repr(again) == (
        "make_scorer(net_benefit, response_method='predict_proba', pos_label=1, threshold=0.2)"
    )


def test_a_score_per_case_is_not_a_metric_of_scikit_learn():
    """The README states it, and names what to use instead."""
    scorer = make_scorer(sr.scores.brier, response_method="predict_proba", greater_is_better=False)
    with pytest.raises(ValueError, match="must return a number"):
        cross_val_score(LogisticRegression(), X, Y, scoring=scorer)


def test_functions_with_one_result_work_in_make_scorer_of_scikit_learn():
    skill = make_scorer(sr.skill, response_method="predict_proba", score="log_loss")
    assert skill(MODEL, X, Y) == sr.scorers["log_loss_skill"](MODEL, X, Y)
    area = make_scorer(sr.scores.roc_auc, response_method="predict_proba")
    assert area(MODEL, X, Y) == sr.scorers["roc_auc"](MODEL, X, Y)


# The mapping


def test_the_mapping_holds_all_scores_of_probabilities_that_need_no_options():
    kinds = {Kind.BINARY, Kind.RANKING, Kind.MULTICLASS, Kind.ORDINAL, Kind.PROBABILITY_SCALE}
    plain = [name for name in sr.scorers if not name.endswith("_skill")]
    with_options = {name for name, entry in REGISTRY.items() if entry.kind in kinds} - set(plain)
    assert {name for name in REGISTRY if REGISTRY[name].kind not in kinds}.isdisjoint(sr.scorers)
    for name in with_options:
        with pytest.raises(sr.UsageError, match=f"^`{name}` needs the option `"):
            sr.scorers.make(name)
    assert len(sr.scorers) == len(list(sr.scorers)) == len(dict(sr.scorers))
    assert "brier" in sr.scorers
    assert "breir" not in sr.scorers
    assert sr.scorers.get("breir") is None
    assert sr.scorers["brier"] is not sr.scorers["brier"]  # a request to one is not one to the other
    assert repr(sr.scorers) == (
        f"<{len(sr.scorers)} scorers for scikit-learn: brier, log_loss, misclassification, ...>"
    )


def test_scikit_learn_is_loaded_only_when_a_scorer_is_made():
    script = (
        "import sys, scorereport as sr; list(sr.scorers), repr(sr.scorers); "
        "assert 'sklearn' not in sys.modules; sr.scorers['brier']; assert 'sklearn' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_without_scikit_learn_a_sentence_names_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "scorereport.estimators.probability_scorer", raising=False)
    monkeypatch.setitem(sys.modules, "sklearn.metrics", None)
    with pytest.raises(sr.UsageError) as error:
        sr.scorers["brier"]
    assert str(error.value) == 'Scorers need scikit-learn: pip install "scorereport[sklearn]".'


MISTAKES = [
    (lambda: sr.scorers["breir"], "The scorer 'breir' is not known; did you mean `brier`?"),
    (
        lambda: sr.scorers["neg_brier_score"],
        "The scorer 'neg_brier_score' is not known; did you mean `brier`?",
    ),
    (lambda: sr.scorers["auc_skill"], "The scorer 'auc_skill' is not known; did you mean `roc_auc_skill`?"),
    (lambda: sr.scorers["Gini"], "The scorer 'Gini' is not known; did you mean `roc_auc_skill`?"),
    (
        lambda: sr.scorers["d2_brier_score"],
        "The scorer 'd2_brier_score' is not known; did you mean `brier_skill`?",
    ),
    (
        lambda: sr.scorers["net_benefit"],
        '`net_benefit` needs options. To fix: sr.scorers.make("net_benefit", threshold=...).',
    ),
    (lambda: sr.scorers["accuracy"], "`accuracy` scores hard class labels; scorers are of probabilities."),
    (lambda: sr.scorers.make("brier", theta=0.2), "`brier` takes no option `theta`."),
    (
        lambda: sr.scorers.make("brier", classes=[0, 1]),
        "`classes` is for scores of several classes; `brier` takes `pos_label`.",
    ),
    (
        lambda: sr.scorers.make("rps", pos_label=1),
        "`pos_label` is for scores of two classes; `rps` takes `classes`.",
    ),
    (
        lambda: sr.scorers.make("rps", classes=["a", "b", "c"])(IRIS, IRIS_X[:, :2], IRIS_Y),
        "`classes` must list the classes of the estimator, 0, 1, 2; got a, b, c.",
    ),
    (
        lambda: sr.scorers["brier"](IRIS, IRIS_X[:, :2], IRIS_Y),
        "`brier` scores two classes, and the estimator has 3; use `multiclass_brier`.",
    ),
    (
        lambda: sr.scorers["roc_auc"](IRIS, IRIS_X[:, :2], IRIS_Y),
        "`roc_auc` scores two classes, and the estimator has 3.",
    ),
    (
        lambda: sr.scorers["brier"](MODEL, X[:4], [0, 1, 2, 2]),
        "`y` must hold classes of the estimator, 0, 1; got 2 at row 2 (2 of 4 rows: 2, 3).",
    ),
    (
        lambda: sr.scorers["brier"](MODEL, X, np.column_stack([Y, Y])),
        "`y` must be one-dimensional; got shape (120, 2).",
    ),
    (
        lambda: sr.scorers["brier"](MODEL, X[:3], Y[:3], sample_weight=[1, -1, 1]),
        "`sample_weight` must not be negative; got -1.0 at row 1 (1 of 3 rows).",
    ),
]


@pytest.mark.parametrize(("mistake", "sentence"), MISTAKES)
def test_a_mistake_with_scorers_gets_one_sentence(mistake, sentence):
    with pytest.raises(sr.ScoreReportError) as error:
        mistake()
    assert str(error.value) == sentence
