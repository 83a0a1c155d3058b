"""What a person wants to know of a target before a run, apart from any verdict."""
