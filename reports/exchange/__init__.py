"""Files of other benchmarks: what they define, put into the files of a check, and the answer in the form of theirs."""
