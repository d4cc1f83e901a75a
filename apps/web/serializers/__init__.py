"""What pages say, in the person's language."""
