"""From a plan to records: tasks, judges, their hosts, the results file."""
