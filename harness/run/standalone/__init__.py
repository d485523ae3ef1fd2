"""A backend's file where nobody judges: a program of its own imports it and calls it, as those who use it do.

What a host sees is one call after another, each result copied at once, with cotangents of random numbers. A program
holds a result while it makes more calls, calls from another thread, calls hundreds of times for the same numbers and
then for others in the same memory, and takes the gradient of a sum; and nothing in it tells of a judge.
"""
