"""What all private estimators share."""
