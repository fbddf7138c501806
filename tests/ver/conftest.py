import torch

# Small operations on busy cores: OpenMP's threads would spend their time waiting for each other.
torch.set_num_threads(1)
