"""What clients change: create, update, patch, delete, and the subresources behind a name."""
