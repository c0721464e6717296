"""Real S3 servers for tests, benches and examples, and a proxy that does what networks do at their worst."""
