"""A ResNet of two stages of the package transformers, in training, with weights of chance."""

import torch
from transformers import ResNetConfig, ResNetModel

torch.manual_seed(0)
config = ResNetConfig(embedding_size=16, hidden_sizes=[32, 64], depths=[1, 2], layer_type="bottleneck")
model = ResNetModel(config)
y = model(torch.randn(2, 3, 64, 48)).pooler_output
y.square().mean().backward()
