"""What private reports add to the best public model."""
