"""Rows as programs over anything that answers calls, the model or a real system; and traces written as rows.

`RowCompiler` makes a `Program` of a row; `ModelSubject` answers its calls with the model. A `Trace` is calls that were
made, and `written` writes it as the steps of a row.
"""

from __future__ import annotations

from statemachines.rows.compiler import RowCompiler, enumerated, evaluate, extremes, positions, values, witnesses
from statemachines.rows.exercised import not_exercised
from statemachines.rows.model_subject import ModelSubject
from statemachines.rows.names import Names, is_plain, item, quoted
from statemachines.rows.programs import UNEVALUABLE, Observed, Program, RowFailure, RowStopped, RowTooLong
from statemachines.rows.row_writer import row_as_it_ran, row_text, written
from statemachines.rows.said import said_in, said_in_steps
from statemachines.rows.spelling import spelled
from statemachines.rows.trace import (
    AtOnce,
    Call,
    CallTypes,
    Given,
    Plain,
    Step,
    Trace,
    callers_of,
    filled,
    otherwise,
    part_of,
    parts,
    shape,
    symbolic,
    with_argument,
    without,
    without_last_argument,
)
from statemachines.rows.typed_steps import TypedSteps
from statemachines.rows.words import WAIT, RowWords
