"""Rows that families of operators share, and the lists of a case file that are made of its rows: LONG, LAID, TYPED."""
