"""Explanations as text, pictures and pages."""
