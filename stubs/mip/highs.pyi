"""HiGHS's library: the part that accel uses."""

highslib: object
