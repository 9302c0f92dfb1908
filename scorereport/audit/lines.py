"""Texts that must not spread over several lines."""

from __future__ import annotations


def one_line(text: str) -> str:
    """The text on one line, with a blank for whatever cannot be printed."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
