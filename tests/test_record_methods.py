"""Methods of dataclasses in commands: they do what those that Python compiles do."""

from __future__ import annotations

import subprocess
import sys

import pytest

_CLASSES = """
import dataclasses, pickle, sys
from dataclasses import dataclass, field, fields, replace
from scorereport.cli import record_methods
{before}
record_methods.make_methods_quickly()

@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    x: float
    name: str = field(default="p", repr=False)
    note: str = field(default="", compare=False)

@dataclass(frozen=True)
class Empty:
    pass

@dataclass(frozen=True)
class One:
    only: tuple[int, ...] = ()

@dataclass(frozen=True)
class More(One):
    parent: object = None

class Free(One):
    pass

@dataclass(frozen=True, eq=False)
class Identity:
    x: int = 0

@dataclass(slots=True)
class Open:
    x: int = 0

def refuse(action):
    try:
        action()
    except Exception as error:
        return type(error).__name__, str(error)
    return "allowed"
"""
_ANSWERS = """
point = Point(x=1.5, name="q", note="n")
print(repr(point), hash(point) == hash((1.5, "q")), point == Point(x=1.5, name="q"), point != Point(x=1.5))
print(repr(Empty()), hash(Empty()) == hash(()), Empty() == Empty())
print(repr(More((1, 2), parent=One())), hash(One((3,))) == hash(((3,),)), One() == More())
inner = More(parent=[])
inner.parent.append(inner)
print(repr(inner))
print(hash(Identity(1)) == hash((1,)), Identity(1) == Identity(1), refuse(lambda: hash(Open())))
for record, name in ((point, "x"), (point, "other"), (Empty(), "x"), (One(), "only"), (Free(), "only")):
    print(refuse(lambda: setattr(record, name, 1)), refuse(lambda: delattr(record, name)))
free = Free()
free.other = 3
del free.other
print(refuse(lambda: free.other), pickle.loads(pickle.dumps(point)) == point, replace(point, x=2.0))
for kind in (Point, More, Identity):
    for method in ("__init__", "__repr__", "__hash__", "__setattr__", "__delattr__"):
        function = getattr(kind, method)
        print(function.__name__, function.__qualname__)
"""
#: Whether the methods of a class are compiled for it.
_HOW = 'print(Point.__setattr__.__code__.co_filename == "<string>")'


def run_apart(before, code):
    """Run code after the definition of some classes in a new process; return the lines that it prints."""
    program = _CLASSES.format(before=before) + code
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_records_of_commands_answer_like_compiled_ones():
    compiled = run_apart("record_methods._MAKERS = {}", _ANSWERS)
    assert run_apart("", _ANSWERS) == compiled
    assert len(compiled) > 20


@pytest.mark.skipif(
    sys.version_info >= (3, 13), reason="Python 3.13 compiles all methods of a class together"
)
def test_methods_are_not_compiled():
    assert run_apart("", _HOW) == ["False"]
    assert run_apart("record_methods._MAKERS = {}", _HOW) == ["True"]


@pytest.mark.parametrize(
    "change",
    [
        "del dataclasses._repr_fn",
        "record_methods._MAKERS['_repr_fn'] = lambda fields: None",
        "record_methods._MAKERS['_hash_fn'] = lambda fields, namespace: lambda self: 1",
        "record_methods._MAKERS['_frozen_get_del_attr'] = lambda *_: (object.__setattr__,) * 2",
    ],
)
def test_methods_that_do_not_fit_are_compiled(change):
    lost = "original = dataclasses._repr_fn\n" + change if change.startswith("del") else change
    back = "dataclasses._repr_fn = original\n" if change.startswith("del") else ""
    program = _CLASSES.format(before=lost).replace("\n@dataclass", f"\n{back}@dataclass", 1)
    done = subprocess.run([sys.executable, "-c", program + _HOW], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"]
