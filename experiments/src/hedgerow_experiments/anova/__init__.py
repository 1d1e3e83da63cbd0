"""PrivateAnova beside its peers."""
