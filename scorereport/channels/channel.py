"""Declaration of a notification channel: its key in `[audit.notify]`, its table, its rules and its sender."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from scorereport.channels.notification import Notification, SecretReader

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What a channel has in the configuration: a strict dataclass, or a list of texts.
Table = TypeVar("Table")
#: A broken rule: the key below that of the channel, and what must hold, without the key.
Problem = tuple[tuple[str, ...], str]
#: Configuration of the dataclass of a channel: unknown keys, and values of another type, are refused.
STRICT: dict[str, Any] = {"extra": "forbid", "strict": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel(Generic[Table]):
    """A way to notify people. Each module of this folder that sets `CHANNEL` declares one.

    Keys of the configuration, their messages and suggestions, the JSON Schema, the redaction of secrets and
    the documentation follow from the declaration.
    """

    #: Its key below `audit.notify`.
    name: str
    #: A sentence for the table of keys in docs/audits.md.
    help: str
    #: The type of its value in the configuration: a strict dataclass of its keys, or `tuple[str, ...]`.
    table: type[Table]
    #: Sends a notification and returns problems, a sentence each; any error is reported as a problem too.
    send: Callable[[Table, Notification, SecretReader], list[str]]
    #: Finds broken rules that types cannot express.
    find_problems: Callable[[Table], Iterable[Problem]] = lambda _: ()
    #: Keys whose values, or items of a list, are from these options.
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Channels are listed and used in this order, then by name.
    rank: int = 100

    @property
    def annotation(self) -> Any:
        """The type of the key in the dataclass of `[audit.notify]`."""
        return self.table | None if is_dataclass(self.table) else self.table

    @property
    def default(self) -> Any:
        """The value of the key if the channel is not used."""
        return None if is_dataclass(self.table) else ()


def list_texts(value: Any) -> Iterator[str]:
    """List all texts in the table of a channel; any of them may name environment variables, as `${NAME}`."""
    if isinstance(value, str):
        yield value
    elif is_dataclass(value):
        yield from (text for key in fields(value) for text in list_texts(getattr(value, key.name)))
    elif isinstance(value, Mapping):
        yield from (text for item in value.values() for text in list_texts(item))
    elif isinstance(value, tuple):
        yield from (text for item in value for text in list_texts(item))
