"""The tests: folders mirror accel/, with what spans stages at the top."""
