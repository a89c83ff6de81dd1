"""The operations, one file a family; each is defined in one place."""
