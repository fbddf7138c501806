"""Several agents in one environment, several policies at once: games, who plays what, and ratings.

After Sample Factory (Petrenko et al. 2020, section 3.5): every policy has a learner of its own, and at the
begin of an episode chance says which policy plays which agent. One policy alone plays against itself.
"""
