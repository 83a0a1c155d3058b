"""What declarations of mutants and of conforming variants are made of."""
