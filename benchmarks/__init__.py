"""Where do the README's figures come from?"""
