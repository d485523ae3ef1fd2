"""One variant judged: the reply compared with the truth, and what is asked again once all passes."""
