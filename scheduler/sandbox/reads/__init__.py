"""What clients read: lists, watches, and the forms in which objects are shown."""
