"""What depends on a case alone, kept on disk from run to run."""
