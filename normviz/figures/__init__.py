"""What is drawn, and how does it look? One file per lab: pure data in, a `Picture` out."""
