"""Mutants that strike in one circumstance alone: is a bug seen that spares what the check uses?

A check looks at one customer, one currency, one answer; a mutant breaks its rule for all of them.
Here each aimed mutant is narrowed to a circumstance, such as customers that are businesses, rows of
lists, or the second time. What is left alone then shows where a check sees too little.
"""
