"""The register of hostile targets: tiny real servers that misbehave in one way each."""
