"""The memory of a call: guard pages, canaries, poison, strides, as laid out before and looked at after."""
