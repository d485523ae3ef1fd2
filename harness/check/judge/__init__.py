"""One variant tried: both sides asked, the truth found, one compared with the other."""
