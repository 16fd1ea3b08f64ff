"""What programs have to do with the host: its arrays, those of other libraries, its functions."""
