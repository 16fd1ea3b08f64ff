"""Products in tiles by groups of work-items: small ones as their factors lie, large ones packed before."""
