"""What pattern has the error."""
