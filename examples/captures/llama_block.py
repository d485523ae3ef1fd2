"""Two layers of Llama of the package transformers: grouped queries, rotary embeddings, SwiGLU; weights of chance."""

import torch
from transformers import LlamaConfig, LlamaModel

torch.manual_seed(0)
config = LlamaConfig(
    hidden_size=128, intermediate_size=352, num_hidden_layers=2, num_attention_heads=8, num_key_value_heads=2,
    vocab_size=320, max_position_embeddings=64,
)  # fmt: skip
model = LlamaModel(config)
y = model(torch.randint(0, 320, (2, 24))).last_hidden_state
y.square().mean().backward()
