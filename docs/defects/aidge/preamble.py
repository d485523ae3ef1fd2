"""What the programs of this page begin with: a graph of one Aidge operator on the CPU, run forwards and backwards."""

import aidge_backend_cpu  # noqa: F401 - registers the kernels
import aidge_core as aidge
import numpy as np

aidge.Log.set_console_level(aidge.Level.Fatal)


def run(node, *inputs, gradient=None, last=None):
    """The first output of the node, or of `last` behind it; with `gradient`, of the output, that of the first input."""
    for i, values in enumerate(inputs):
        producer, given = node.input(i)[0], aidge.Tensor(values)
        if producer is None:
            node.get_operator().associate_input(i, given)
        else:
            producer.get_operator().set_output(0, given)
    graph = aidge.get_connected_graph_view(node)
    graph.set_backend("cpu")
    graph.forward_dtype()
    graph.forward_dims(allow_data_dependency=True)
    scheduler = aidge.SequentialScheduler(graph)
    scheduler.generate_scheduling()
    scheduler.forward(forward_dims=False)
    output = (node if last is None else last).get_operator().get_output(0)
    if gradient is None:
        return np.array(output)
    output.grad = aidge.Tensor(gradient)
    scheduler.backward()
    return np.array(node.get_operator().get_input(0).grad)


def f32(*values):
    return np.array(values, np.float32)
