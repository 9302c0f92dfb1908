"""The study that this software is right, run on the user's machine."""
