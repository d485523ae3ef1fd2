"""Clients of a backend: native, exec protocol, answer files, in process; the process may do anything."""
