"""Command line tools that tests run as processes."""
