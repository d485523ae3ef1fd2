"""The command line: a file for each group of commands, loaded when one of them is called."""
