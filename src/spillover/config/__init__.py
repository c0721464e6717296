"""TOML and environment → choices; the only place that reads either."""
