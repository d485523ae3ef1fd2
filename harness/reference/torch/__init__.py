"""Any PyTorch function as the reference: values and gradients in float64, with noise wherever it rounds."""
