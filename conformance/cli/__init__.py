"""The console command ``payments-conformance``."""
