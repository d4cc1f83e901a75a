"""`--hypothesis-profile=long` runs the state machine of logs 200 times 300 steps."""

from hypothesis import settings

settings.register_profile("long", max_examples=200, stateful_step_count=300, deadline=None, print_blob=True)
