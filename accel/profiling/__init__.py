"""What each loop of a program takes when it runs. Sees all stages, as explanations do, which it fills with figures."""
