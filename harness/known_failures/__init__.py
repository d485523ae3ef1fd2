"""Known failures: read, matched, proposed."""
