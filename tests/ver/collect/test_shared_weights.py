import copy

import torch
from torch import nn

from ver.collect.shared_weights import SharedWeights


def test_policies_bound_to_the_same_weights_change_together():
    torch.manual_seed(0)
    policy = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.LazyLinear(2))
    image = torch.rand(2, 3, 8, 8)
    policy(image)
    expected = copy.deepcopy(policy).eval()(image)
    weights = SharedWeights(policy)
    other = copy.deepcopy(policy)
    for parameter in other.parameters():
        nn.init.zeros_(parameter)
    for bound in (policy, other):
        weights.bind(bound)
    torch.testing.assert_close(other.eval()(image), expected)
    with torch.no_grad():
        for tensor in policy.state_dict(keep_vars=True).values():
            tensor.data.add_(1)
    for a, b in zip(policy.state_dict().values(), other.state_dict().values(), strict=True):
        assert torch.equal(a, b)
    kernel = other[0].weight
    assert kernel.permute(0, 2, 3, 1).is_contiguous()  # channels last, as the policy keeps it
