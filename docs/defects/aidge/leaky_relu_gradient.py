"""The gradient of LeakyReLU is the slope everywhere, that of Heaviside a surrogate's

Heaviside's is g / (1 + (π x)²), for spiking networks: its derivative is 0.

Ledger: leaky_relu gradient, step gradient
Expected:
    LeakyReLU [1.0, 0.25]
    Heaviside [0.0, 0.0]
"""

from preamble import aidge, f32, run

x, g = f32(2.0, -2.0), f32(1.0, 1.0)
print("LeakyReLU", run(aidge.LeakyReLU(0.25), x, gradient=g).tolist())
print("Heaviside", [round(v, 3) for v in run(aidge.Heaviside(0.0), x, gradient=g).tolist()])
