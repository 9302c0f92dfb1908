"""Tables of `[audit]` on the integrity of its history: signatures, sealed forecasts and anchors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from scorereport.channels.channel import STRICT
from scorereport.configuration.documented_keys import Help


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningTable:
    """`[audit.signing]`: the key that signs the records, and the keys whose records are accepted."""

    __pydantic_config__: ClassVar = STRICT

    key: Annotated[
        str,
        Help(
            "the file of the private key, relative to the configuration: .pem for an Ed25519 key, which is "
            "made on first use, or .p12 or .pfx for PKCS#12, whose password is read from the environment "
            "variable `SCOREREPORT_SIGN_PASSWORD`. By default `scorereport/audit-key.pem` in the user's "
            "configuration folder (`$XDG_CONFIG_HOME`, or `~/.config`)"
        ),
    ] = ""
    trusted: Annotated[
        tuple[str, ...],
        Help(
            "the fingerprints of the keys whose records `verify` accepts; by default those in the file "
            "`trusted-keys-...` beside the chain head file, which `audit keys` writes"
        ),
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SealTable:
    """`[audit.seal]`: how rows are identified when their forecasts are sealed, and the analysis plan."""

    __pydantic_config__: ClassVar = STRICT

    key: Annotated[
        tuple[str, ...],
        Help(
            "the columns that together identify a row, such as the number of a loan; needed for `audit seal`"
        ),
    ] = ()
    plan: Annotated[
        str,
        Help("a file with the analysis plan, relative to the configuration; `audit seal` records its hash"),
    ] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorsTable:
    """`[audit.anchors]`: copies of the chain head outside of the history, signed and time-stamped."""

    __pydantic_config__: ClassVar = STRICT

    folder: Annotated[
        str,
        Help(
            "a folder in which each run writes a signed attestation of its record, relative to the "
            "configuration; best one that those who can change the history cannot change"
        ),
    ] = ""
    time_stamp: Annotated[
        str, Help("the address of a time-stamp authority (RFC 3161), which stamps the hash of each record")
    ] = ""
    authority: Annotated[
        str,
        Help(
            "a .pem file with the certificates of the time-stamp authority, by which `verify` checks its "
            "stamps; needed with `time_stamp`"
        ),
    ] = ""
