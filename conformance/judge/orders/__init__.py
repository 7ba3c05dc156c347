"""Calls made at once: whether one after the other, in some order, they could have given what they gave."""

from __future__ import annotations

from conformance.judge.orders.search import Explained, explanations, longest

__all__ = ["Explained", "explanations", "longest"]
