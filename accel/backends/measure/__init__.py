"""Which way each nest of a program runs, found out by running it (`rearrange="measure"`), and kept between processes."""
