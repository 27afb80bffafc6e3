"""What does the norm's place do to gradients and to the residual stream as depth grows?"""
