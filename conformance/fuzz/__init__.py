"""Generated requests: what no person thought of sending, judged as everything else is."""
