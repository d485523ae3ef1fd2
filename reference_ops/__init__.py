"""What is true: one file per operator; the folder is the table of contents.

An operator's file holds plain functions and a few facts (see CONTRIBUTING.md); `load` gathers
them into an `Op`. A file whose name begins with an underscore is not an operator.
"""

from opproof.reference_ops._graphs import change_calls, graph_names, load, operators_of
from opproof.reference_ops._kept import refuse_backends
from opproof.reference_ops._op import Op, load_file, load_folder, names, summary
from opproof.reference_ops._traits import Trait
from opproof.reference_ops._vjp import gradients_of

__all__ = [
    "Op",
    "Trait",
    "change_calls",
    "gradients_of",
    "graph_names",
    "load",
    "load_file",
    "load_folder",
    "names",
    "operators_of",
    "summary",
]

refuse_backends()
