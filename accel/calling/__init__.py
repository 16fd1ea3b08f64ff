"""What a call of `run` or `runN` goes through: the forms of its arrays, and the compiled program that serves it."""
