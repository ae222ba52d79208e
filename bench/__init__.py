"""Measurements: ``python -m bench``."""
