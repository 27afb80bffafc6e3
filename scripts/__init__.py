"""Which tools keep this repository: the message catalogue, the pictures, the browser, a served app."""
