"""A session worker: tasks asked of backend processes that are kept, doubts checked again, late damage attributed."""
