"""What an API server does to an object before it is stored: defaults, admission, validation."""
