"""What is written from data and code: tables, JSON Schemas, the template profile, the API class."""
