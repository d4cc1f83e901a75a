"""The project's way to hash passwords, at a price that tests can pay."""

from django.contrib.auth.hashers import ScryptPasswordHasher


class CheapScrypt(ScryptPasswordHasher):
    work_factor = 2**4
    parallelism = 1
