"""The reads of captures."""
