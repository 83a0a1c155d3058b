"""From decisions of single checks to verdicts on requirements and on the target."""
