"""A backend's file called from a standalone script that imports nothing of opproof, as those who use it call it.

What a host sees is one call after another, each result copied at once, with cotangents of random numbers. A program
holds a result while it makes more calls, calls from another thread, calls hundreds of times for the same numbers and
then for others in the same memory, and takes the gradient of a sum; and nothing in it tells of a judge.
"""
