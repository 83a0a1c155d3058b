"""Reports of a run: report.json, report.html and the summary in the terminal."""
