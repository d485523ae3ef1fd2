"""The encoder of Whisper of the package transformers, two layers with weights of chance, on half a second of sound."""

import torch
from transformers import WhisperConfig
from transformers.models.whisper.modeling_whisper import WhisperEncoder

torch.manual_seed(0)
config = WhisperConfig(
    d_model=96, encoder_layers=2, encoder_attention_heads=6, encoder_ffn_dim=192, max_source_positions=25
)
model = WhisperEncoder(config)
y = model(torch.randn(2, config.num_mel_bins, 50)).last_hidden_state
y.square().mean().backward()
