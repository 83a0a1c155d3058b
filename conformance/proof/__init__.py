"""What shows that the suite can be trusted: mutants, conforming variants, and what runs them."""
