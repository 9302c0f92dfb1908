"""The validation study of this software, run on the user's machine."""
