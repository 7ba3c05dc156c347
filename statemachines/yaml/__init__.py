"""Text → a tree in which every node knows its file, line and column.

The traps of YAML are errors here; nothing above reads YAML itself.
"""

from __future__ import annotations

from statemachines.yaml import tree
from statemachines.yaml.source import read, read_file
from statemachines.yaml.tree import Mapping, Node, Scalar, Sequence, Spot, locate, to_plain
