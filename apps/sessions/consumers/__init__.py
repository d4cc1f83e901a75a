"""The socket of agent hosts."""
