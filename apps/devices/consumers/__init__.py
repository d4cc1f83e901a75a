"""The sockets of phones."""
