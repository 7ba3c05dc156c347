"""By which revision of a spec rows count: `measured_by` holds a row against what a revision requires, `frozen` writes that."""

from __future__ import annotations

from conformance.gating.revision import Measure, frozen, measured_by
