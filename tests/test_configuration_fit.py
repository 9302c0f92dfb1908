"""Configurations are checked against data, options and models."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace

import jsonschema
import numpy as np
import pandas as pd
import pytest
from configuration_tools import (
    CLASSES,
    EXAMPLE,
    ORDINAL_EXAMPLE,
    evaluation_fixture,
    frame_fixture,
    limit_text,
)

import scorereport as sr
from scorereport.configuration import (
    MEASURES,
    Configuration,
    ModelKind,
    check_arguments,
    check_configuration,
    configuration_schema,
    parse_configuration,
)
from scorereport.errors import UsageError

frame = pytest.fixture(scope="module")(frame_fixture)


evaluation = pytest.fixture(scope="module")(evaluation_fixture)


@pytest.mark.sweep
def test_the_schema_accepts_valid_configurations_only():
    schema = configuration_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    for text in (EXAMPLE, ORDINAL_EXAMPLE, '[evaluation]\nclasses = [1, "b"]\nforecasts = ["m"]'):
        raw = json.loads(json.dumps(tomllib.loads(text), default=str))
        jsonschema.validate(raw, schema)
    for table, wrong in [
        ("evaluation", {"classes": [[1], 2]}),
        ("evaluation", {"forecasts": {"m": "a"}}),
        ("evaluation", {"cost_matrix": [1, 2]}),
        ("evaluation", {"ordered": "yes"}),
        ("limits", {"macro_f1_skill": 0.1}),
        ("model", {"ownr": "x"}),
        ("limits", {"brier": "x"}),
        ("limits", {"one_sided": {}}),
        ("limits", {"calibration_slope": 0.9}),
        ("report", {"omit": ["cover"]}),
        ("people", {"author": 5}),
    ]:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({table: wrong}, schema)


@pytest.fixture(scope="module")
def bare(frame):
    return sr.evaluate(frame, outcome="y", forecasts=["logit"], resamples=0)


def test_a_configuration_that_fits(evaluation, bare):
    check_configuration(Configuration(), evaluation)
    check_configuration(Configuration(), bare)
    fitting = """
        [model.descriptions]
        logit = "One."
        [evaluation]
        groups = ["site"]
        cost_interval = [0.1, 0.4]
        thresholds = [0.2, 0.3]
        resamples = 40
        [limits]
        models = ["boost"]
        groups = true
        """ + "\n".join(
        limit_text(name).replace("0.25", "0.3")
        for name, measure in MEASURES.items()
        if ModelKind.BINARY in measure.kinds and not {"grades", "reference"} & {*measure.requires}
    )
    check_configuration(parse_configuration(fitting), evaluation)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[limits]\nmodels = ["logti"]',
            "`limits.models` names a model that is not evaluated: 'logti'; did you mean `logit`?",
        ),
        (
            '[model.descriptions]\nforest = "x"',
            "`model.descriptions` names a model that is not evaluated: 'forest'; models are logit.",
        ),
        (
            "[limits]\nbounded_brier = 0.1",
            "`limits.bounded_brier` needs an interval of costs, and the evaluation has none: "
            "set `evaluation.cost_interval`, or remove the limit.",
        ),
        (
            "[limits]\nbounded_log_loss_skill = 0.1",
            "`limits.bounded_log_loss_skill` needs an interval of costs, and the evaluation has none: "
            "set `evaluation.cost_interval`, or remove the limit.",
        ),
        (
            "[limits]\ncalibration_slope = {min = 0.8}",
            "`limits.calibration_slope` needs the calibration line, which is not fitted where "
            "`evaluation.resamples` is 0: set it to 1000, or remove the limit.",
        ),
        (
            "[limits]\nscale_accuracy = 0.1",
            "`limits.scale_accuracy` needs the probability scale, and the evaluation has none: set "
            "`evaluation.scale` to true, or give --scale, and evaluate again, or remove the limit.",
        ),
        (
            "[evaluation]\nscale = true",
            "`evaluation.scale` is True, and the evaluation was made with False: "
            "evaluate again with this configuration, or change the key.",
        ),
        (
            "[limits]\ngroups = true",
            "`limits.groups` is true, but the evaluation has no groups: name columns in "
            "`evaluation.groups`, or set `limits.groups` to false.",
        ),
        (
            '[evaluation]\ngroups = ["site"]',
            "`evaluation.groups` is ['site'], and the evaluation was made without groups: "
            "evaluate again with this configuration, or change the key.",
        ),
        (
            "[evaluation]\nresamples = 40\nlevel = 0.9",
            "`evaluation.resamples` is 40, and the evaluation was made with 0: "
            "evaluate again with this configuration, or change the key. (1 more problem.)",
        ),
        (
            "[evaluation]\ncost_interval = [0.1, 0.2]",
            "`evaluation.cost_interval` is (0.1, 0.2), and the evaluation was made with None: "
            "evaluate again with this configuration, or change the key.",
        ),
    ],
)
def test_a_configuration_that_does_not_fit(bare, text, message):
    with pytest.raises(UsageError) as caught:
        check_configuration(parse_configuration(text, "report.toml"), bare)
    assert str(caught.value) == f"report.toml: {message}"


def test_a_limit_on_the_probability_scale_asks_for_it():
    limits = "[limits]\nscale_angle = {min = 30}"
    assert parse_configuration(limits).settings == parse_configuration(limits).arguments == {"scale": True}
    assert "scale" not in parse_configuration("[limits]\nbrier = 0.3").settings
    refused = parse_configuration(f"[evaluation]\nscale = false\n{limits}")
    assert refused.settings == {"scale": False}
    columns = {"outcome": "y", "forecasts": ["logit"]}
    check_arguments(parse_configuration(limits), {**columns, **parse_configuration(limits).arguments})
    with pytest.raises(UsageError, match=r"`limits\.scale_angle` needs the probability scale, and the"):
        check_arguments(refused, {**columns, **refused.arguments})


def test_documents_without_the_setting_have_the_probability_scale(evaluation, tmp_path):
    """Earlier documents always have it, and no setting for it."""
    document = json.loads(evaluation.to_json())
    assert document["settings"].pop("scale") is True
    file = tmp_path / "earlier.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    earlier = sr.Evaluation.from_json(file)
    assert earlier.settings == replace(evaluation.settings, scale=False)
    check_configuration(parse_configuration("[evaluation]\nscale = true"), earlier)
    check_configuration(parse_configuration("[limits]\nscale_accuracy = 0.1"), earlier)


@pytest.fixture(scope="module")
def class_frame():
    rng = np.random.default_rng(7)
    p = rng.dirichlet([1, 1, 1], 60)
    observed = [CLASSES[rng.choice(3, p=row)] for row in p]
    columns = {f"m_{label}": p[:, k] for k, label in enumerate(CLASSES)}
    return pd.DataFrame({"grade": observed, **columns, "site": rng.choice(["A", "B"], 60)})


@pytest.fixture(scope="module", params=[True, False], ids=["ordered", "unordered"])
def of_classes(request, class_frame):
    return sr.evaluate(
        class_frame,
        outcome="grade",
        forecasts=["m"],
        classes=CLASSES,
        ordered=request.param,
        groups="site",
        resamples=0,
        scale=True,
    )


def test_a_configuration_that_fits_classes(of_classes):
    ordered = of_classes.data.classes.ordered
    kind = ModelKind.ORDINAL if ordered else ModelKind.MULTICLASS
    names = [name for name, measure in MEASURES.items() if kind in measure.kinds]
    limits = "\n".join(limit_text(name, label="low") for name in names)
    fitting = f"""
        [evaluation]
        outcome = "grade"
        forecasts = ["m"]
        classes = ["low", "middle", "high"]
        ordered = {str(ordered).lower()}
        normalize = false
        groups = ["site"]
        resamples = 0
        scale = true
        scale_bins = 10
        [limits]
        groups = true
        {limits}
        """
    check_configuration(parse_configuration(fitting), of_classes)


@pytest.mark.parametrize(
    ("text", "overridden", "message"),
    [
        (
            'outcome = "y"',
            "outcome",
            "`evaluation.outcome` is 'y', and the evaluation was made with 'grade': ",
        ),
        (
            'forecasts = ["m", "b"]',
            "forecasts",
            "`evaluation.forecasts` is ['b', 'm'], and the evaluation was made with ['m']: ",
        ),
        (
            'classes = ["high", "middle", "low"]',
            "classes",
            "`evaluation.classes` is ['high', 'middle', 'low'], and the evaluation was made with "
            "['low', 'middle', 'high']: ",
        ),
        (
            'classes = ["low", "middle", "high"]\nnormalize = true',
            "normalize",
            "`evaluation.normalize` is True, and the evaluation was made with False: ",
        ),
        (
            "scale_bins = 5",
            "scale_bins",
            "`evaluation.scale_bins` is 5, and the evaluation was made with 10: ",
        ),
        (
            "cost_interval = [0.1, 0.2]",
            "cost_interval",
            "`evaluation.cost_interval` is (0.1, 0.2), and the evaluation was made with None: ",
        ),
    ],
)
def test_a_configuration_of_other_classes_or_columns(of_classes, text, overridden, message):
    configuration = parse_configuration(f"[evaluation]\n{text}", "c")
    with pytest.raises(UsageError) as caught:
        check_configuration(configuration, of_classes)
    assert str(caught.value) == f"c: {message}evaluate again with this configuration, or change the key."
    check_configuration(configuration, of_classes, overridden=[overridden])


def test_the_order_of_classes_must_be_that_of_the_evaluation(of_classes):
    ordered = of_classes.data.classes.ordered
    text = '[evaluation]\nclasses = ["low", "middle", "high"]\nordered = {}'
    check_configuration(parse_configuration(text.format(str(ordered).lower())), of_classes)
    with pytest.raises(UsageError) as caught:
        check_configuration(parse_configuration(text.format(str(not ordered).lower()), "c"), of_classes)
    assert str(caught.value) == (
        f"c: `evaluation.ordered` is {not ordered}, and the evaluation was made with {ordered}: "
        "evaluate again with this configuration, or change the key."
    )


@pytest.mark.parametrize(
    ("limit", "remedy"),
    [
        ("brier = 0.1", "did you mean `limits.multiclass_brier`?"),
        ("log_loss_skill = 0.1", "did you mean `limits.multiclass_log_loss_skill`?"),
        ("brier_miscalibration = 0.1", "did you mean `limits.multiclass_brier_miscalibration`?"),
        ("log_loss_miscalibration = 0.1", "remove the limit."),
        (
            "misclassification = 0.1",
            "set `limits.accuracy`, which is 1 minus this, or remove the limit.",
        ),
        ("roc_auc = 0.7", "remove the limit."),
        ("bounded_brier = 0.1", "remove the limit."),
        ("calibration_slope = {min = 0.8}", "remove the limit."),
        ("prevalence = {min = 0.2}", "remove the limit."),
    ],
)
def test_limits_of_binary_models_do_not_fit_classes(of_classes, limit, remedy):
    with pytest.raises(UsageError) as caught:
        check_configuration(parse_configuration(f"[limits]\n{limit}", "c"), of_classes)
    name = limit.partition(" ")[0]
    assert str(caught.value) == (
        f"c: `limits.{name}` is for binary models, and these have several classes: {remedy}"
    )


@pytest.mark.parametrize("name", ["rps", "rps_miscalibration", "sa_rps_skill", "quadratic_weighted_kappa"])
def test_limits_of_ordered_classes_need_an_order(of_classes, name):
    configuration = parse_configuration(f"[limits]\n{name} = 0.5", "c")
    if of_classes.data.classes.ordered:
        check_configuration(configuration, of_classes)
        return
    with pytest.raises(UsageError) as caught:
        check_configuration(configuration, of_classes)
    assert str(caught.value) == (
        f"c: `limits.{name}` needs ordered classes: if they are, set `evaluation.ordered` to true, "
        "or give --ordered; otherwise remove the limit."
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[limits]\nmulticlass_brier = 0.1",
            "`limits.multiclass_brier` is for models of several classes, and `evaluation.classes` names "
            "none: did you mean `limits.brier`?",
        ),
        (
            "[limits]\nrps_skill = 0.1",
            "`limits.rps_skill` is for models of several classes, and `evaluation.classes` names none: "
            "did you mean `limits.brier_skill`?",
        ),
        (
            "[limits]\nmacro_f1 = 0.1",
            "`limits.macro_f1` is for models of several classes, and `evaluation.classes` names none: "
            "remove the limit.",
        ),
        (
            '[evaluation]\nclasses = ["0", "1"]',
            "`evaluation.classes` is ['0', '1'], and the evaluation was made without classes: "
            "evaluate again with this configuration, or change the key.",
        ),
    ],
)
def test_keys_of_classes_do_not_fit_binary_models(bare, text, message):
    with pytest.raises(UsageError) as caught:
        check_configuration(parse_configuration(text, "c"), bare)
    assert str(caught.value) == f"c: {message}"
