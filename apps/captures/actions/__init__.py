"""The writes of captures: taking one in, purging by a person's decision."""
