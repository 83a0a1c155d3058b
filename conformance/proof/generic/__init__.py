"""Generic mutation: the reference broken by machine, everywhere and without regard to checks."""
