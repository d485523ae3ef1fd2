"""Failures that may be no fault: kinks, precision, conditioning, undefined inputs."""
