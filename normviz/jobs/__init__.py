"""Who runs an experiment, for whom, and where does its result stay?"""
