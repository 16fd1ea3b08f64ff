"""Programs that write parts of accel, and measurements."""
