"""The references, changed so that they keep a sentence in another way that the description allows."""
