"""output_padding adds zeros behind the result, where the bias belongs

aidge_onnx adds ConvTranspose's output_padding to the padding of PaddedConvTranspose, whose Pad comes after the bias.

Ledger: conv_transpose1d forward, conv_transpose2d forward
Expected: [3.0, 2.0, 3.0, 2.0, 2.0]
"""

from preamble import aidge, f32, run

node = aidge.PaddedConvTranspose1D(1, 1, [1], stride_dims=[2], padding_dims=[0, 2])
print(run(node, f32(1, 1).reshape(1, 1, 2), f32(1).reshape(1, 1, 1), f32(2))[0, 0].tolist())
