"""A judge at work: tasks are asked of hosts that are kept, doubts looked at again, harm charged to who did it."""
