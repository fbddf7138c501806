import torch

from ver.networks.normaliser import RunningNormaliser


def test_running_normaliser_agrees_with_all_data_at_once():
    normaliser = RunningNormaliser(2)
    data = torch.randn(100, 2) * 3 + 5
    for part in data.split(30):
        normaliser.update(part)
    torch.testing.assert_close(normaliser.mean, data.mean(0))
    torch.testing.assert_close(normaliser.variance, data.var(0, unbiased=False))
    scaled = normaliser(data)
    assert scaled.mean().abs() < 1e-4
    assert (scaled.std() - 1).abs() < 0.02
