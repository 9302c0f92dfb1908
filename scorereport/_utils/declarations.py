"""Declarations of arguments: from one of them follow the check, the option, the key, the schema and the help.

An argument is declared as a key of a `TypedDict`, which editors and mypy read, with a `Declared` in its
annotation. Its help is one sentence in Markdown, in which `name` is another argument.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from textwrap import fill
from typing import TYPE_CHECKING, Any, get_type_hints

from scorereport._utils.formatting import format_plain
from scorereport._utils.rules import Rule
from scorereport._utils.suggestions import suggest_name
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
_NAME = re.compile(r"`(\w+)`")
_WIDTH = 106


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """An argument: its help, the rule for its value, and its value if it is not given.

    `unless_given` describes a default that is not a plain value. `option` is the name on the command line if
    it differs, `opposite` that of the option that sets a flag to false; `alias_of` is the name that replaces
    a deprecated one. An argument that is not `in_files` is no key of a configuration.
    """

    help: str
    rule: Rule
    default: Any = None
    unless_given: str = ""
    option: str = ""
    opposite: str = ""
    option_help: str = ""
    alias_of: str = ""
    in_files: bool = True
    name: str = ""

    @property
    def option_name(self) -> str:
        """The option on the command line."""
        return f"--{(self.option or self.name).replace('_', '-')}"

    @property
    def short_help(self) -> str:
        """The help up to its first colon or semicolon, inside a sentence."""
        text = re.split("[:;.]", plain_help(self), maxsplit=1)[0]
        return text[0].lower() + text[1:]

    @property
    def default_text(self) -> str:
        """The value if the argument is not given; empty if nothing is to be said about it."""
        if self.unless_given or self.default is None or isinstance(self.default, bool):
            return self.unless_given
        return f'"{self.default}"' if isinstance(self.default, str) else format_plain(self.default)


def read_declarations(*tables: type) -> dict[str, Declared]:
    """The declarations in the annotations of `TypedDict` classes, by name, in their order."""
    found = {}
    for table in tables:
        for name, annotation in get_type_hints(table, include_extras=True).items():
            (declared,) = (part for part in annotation.__metadata__ if isinstance(part, Declared))
            found[name] = replace(declared, name=name)
    return found


def check_arguments(
    given: Mapping[str, object],
    declared: Mapping[str, Declared],
    name_of: Callable[[str], str] = str,
    what: str = "evaluate",
) -> dict[str, Any]:
    """Check each argument alone and return the plain values; those that are None are left out.

    `name_of` is the name of an argument in errors; `what` is the function whose arguments they are.
    """
    _check_known(given, declared, what)
    named = _replace_aliases({name: value for name, value in given.items() if value is not None}, declared)
    return {name: declared[name].rule.check(value, name_of(name)) for name, value in named.items()}


def _check_known(names: Mapping[str, object], declared: Mapping[str, Declared], what: str) -> None:
    """Refuse names that are not declared, with the most similar one."""
    for name in names:
        if name not in declared:
            meant = suggest_name(name, [known for known, one in declared.items() if not one.alias_of])
            hint = f"did you mean `{meant}`?" if meant else f"see help(scorereport.{what})."
            raise UsageError(f"`{name}` is not an argument of `{what}`; {hint}")


def _replace_aliases(given: Mapping[str, Any], declared: Mapping[str, Declared]) -> dict[str, Any]:
    """Replace deprecated names, with a warning."""
    named = dict(given)
    for alias in given:
        if name := declared[alias].alias_of:
            if name in given:
                raise UsageError(
                    f"`{alias}` is the old name of `{name}`, which is given as well; remove one."
                )
            warnings.warn(f"`{alias}` is deprecated; write `{name}` instead.", FutureWarning, stacklevel=5)
            named[name] = named.pop(alias)
    return named


def plain_help(declared: Declared) -> str:
    """The help without links."""
    return _LINK.sub(r"\1", declared.help)


def option_help(declared: Declared, options: Mapping[str, Declared]) -> str:
    """The help of an option: names of arguments are those of their options."""

    def rename(found: re.Match[str]) -> str:
        other = options.get(found[1])
        return other.option_name if other else found[0]

    text = _NAME.sub(rename, plain_help(declared).removesuffix("."))
    default = f" (default {declared.default_text})" if declared.default_text else ""
    more = f" {declared.option_help}" if declared.option_help else ""
    return f"{text}{default}.{more}"


def document_arguments(function: Callable[..., Any], declared: Mapping[str, Declared]) -> None:
    """Complete the signature of a function that takes `**others`, and its docstring at {parameters}.

    So `help`, notebooks and other tools that look at the function show every argument.
    """
    shown = {name: one for name, one in declared.items() if not one.alias_of}
    if function.__doc__:  # absent under python -OO
        function.__doc__ = function.__doc__.replace("    {parameters}", describe_parameters(shown))
    named = signature(function)
    own = [one for one in named.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
    others = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=one.default)
        for name, one in shown.items()
        if name not in named.parameters
    ]
    function.__signature__ = named.replace(parameters=[*own, *others])  # type: ignore[attr-defined]


def describe_parameters(declared: Mapping[str, Declared], indent: str = "    ") -> str:
    """The section "Parameters" of a docstring."""
    return "\n".join(_describe_parameter(name, one, indent) for name, one in declared.items())


def _describe_parameter(name: str, declared: Declared, indent: str) -> str:
    text = plain_help(declared)
    if declared.default_text:
        comma = "," if "," in declared.default_text else ""
        text = f"{text.removesuffix('.')}; {declared.default_text}{comma} unless given."
    return f"{indent}{name}\n" + fill(
        text, _WIDTH, initial_indent=f"{indent}    ", subsequent_indent=f"{indent}    "
    )


def tabulate_keys(declared: Mapping[str, Declared]) -> Iterator[str]:
    """The rows of a Markdown table of the keys of a configuration."""
    for name, one in declared.items():
        if one.in_files:
            text = one.help.removesuffix(".")
            comma = "," if "," in one.default_text else ""
            default = f"; {one.default_text}{comma} unless given" if one.default_text else ""
            yield f"| `{name}` | {text}{default} |"
