"""Channels by which people are notified of audits. `CHANNELS` has each by its key in `[audit.notify]`."""

from importlib import import_module
from pkgutil import iter_modules

from scorereport.channels.channel import Channel


def _find_channels() -> dict[str, Channel[object]]:
    """The channels that the modules of this folder declare, in the order of their ranks."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    channels = [module.CHANNEL for module in modules if hasattr(module, "CHANNEL")]
    return {channel.name: channel for channel in sorted(channels, key=lambda each: (each.rank, each.name))}


CHANNELS = _find_channels()

__all__ = ["CHANNELS", "Channel"]
