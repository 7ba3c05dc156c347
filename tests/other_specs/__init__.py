"""Specs that nobody wrote, and systems for them: right ones by the model, and wrong ones by a kernel with a lie."""
