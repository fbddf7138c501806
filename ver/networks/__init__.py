"""Networks: image encoders, recurrent core, action heads and the actor-critic they make up."""

from ver.networks.encoders import ResNet18, SEResNet9, SmallCNN
from ver.networks.policy import ActorCritic, Evaluation, PolicyOutput

__all__ = ["ActorCritic", "Evaluation", "PolicyOutput", "ResNet18", "SEResNet9", "SmallCNN"]
