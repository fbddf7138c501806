import math

import pytest
import torch

from ver.errors import UserError
from ver.networks.encoders import (
    ENCODERS,
    FixupBlock,
    ResidualBlock,
    ResNet18,
    SEResNet9,
    SmallCNN,
    SqueezeExcite,
    make_encoder,
    make_encoders,
)


def count(module: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("small_cnn", 64),
        ("resnet18", 128),
        ("resnet18", 64),
        ("se_resnet9", 64),
        ("se_resnet9_quarter", 64),
    ],
)
def test_gradients_reach_every_parameter(name, size):
    torch.manual_seed(0)
    encoder = make_encoder(name, 2, size, size, 24)
    optimiser = torch.optim.SGD(encoder.parameters(), lr=1e-2)
    images, wanted = torch.rand(4, 2, size, size), torch.rand(4, 24)
    # Fixup's branches start at zero, so what lies below gets its gradient from the third step on.
    for _ in range(3):
        output = encoder(images)
        assert output.shape == (4, 24)
        optimiser.zero_grad()
        (output - wanted).square().mean().backward()
        optimiser.step()
    for path, parameter in encoder.named_parameters():
        assert parameter.grad is not None, path
        assert parameter.grad.abs().max() > 0, path


def test_half_the_channels_are_about_a_quarter_of_the_weights():
    whole, half, quarter = (
        count(make_encoder(f"se_resnet9{width}", 1, 64, 64, 64).body)
        for width in ("", "_half", "_quarter")
    )
    assert whole / half == pytest.approx(4.0, rel=0.02)
    assert half / quarter == pytest.approx(4.0, rel=0.02)


@pytest.mark.parametrize(
    ("name", "height", "words"),
    [
        ("vgg", 64, "resnet18, se_resnet9, se_resnet9_half, se_resnet9_quarter, small_cnn"),
        ("small_cnn", 32, "36x36"),
        ("resnet18", 100, "multiples of 32 pixels, found 100x64"),
        ("se_resnet9", 100, "multiples of 32 pixels, found 100x64"),
    ],
)
def test_unknown_or_unfit_encoders_are_errors_of_one_line(name, height, words):
    with pytest.raises(UserError, match=words) as caught:
        make_encoder(name, 1, height, 64, 8)
    assert "\n" not in str(caught.value)


def test_an_encoder_of_another_width_is_an_error_of_one_line(monkeypatch):
    class Flat(torch.nn.Flatten):
        def __init__(self, channels, height, width, features):
            super().__init__()

    monkeypatch.setitem(ENCODERS, "flat", Flat)
    with pytest.raises(UserError, match=r"'flat' makes \(2, 4096\) of two images") as caught:
        make_encoder("flat", 1, 64, 64, 8)
    assert "\n" not in str(caught.value)


def test_resnet18_is_what_the_paper_describes():
    encoder = ResNet18(1, 128, 128, 512)
    convolutions = [m for m in encoder.body if isinstance(m, torch.nn.Conv2d)]
    stem, *downs, squeeze = convolutions
    assert (stem.kernel_size, stem.stride, stem.out_channels) == ((4, 4), (4, 4), 32)
    assert [(d.kernel_size, d.stride, d.out_channels) for d in downs] == [
        ((2, 2), (2, 2), 64),
        ((2, 2), (2, 2), 128),
        ((2, 2), (2, 2), 256),
    ]
    blocks = [m for m in encoder.body if isinstance(m, ResidualBlock)]
    assert len(blocks) == 8  # 8 blocks of 2 and the stem and the linear layer: 18
    assert all(block.second.dilation == (2, 2) for block in blocks)
    groups = {m.num_groups for m in encoder.modules() if isinstance(m, torch.nn.GroupNorm)}
    assert groups == {16, 1}
    # Per block of p channels: 2 convolutions of 9 p^2, 2 normalisations of 2 p, the scale's p.
    expected = sum(2 * (18 * p * p + 5 * p) for p in (32, 64, 128, 256))
    expected += 16 * 32 + 32 + 2 * 32  # stem
    expected += sum(2 * p + 4 * p * 2 * p + 2 * p for p in (32, 64, 128))  # down-sampling
    expected += 9 * 256 * 128 + 2 * 128 + 2048 * 512 + 512
    assert squeeze.out_channels == 128
    assert count(encoder) == expected


def test_se_resnet9_has_nine_layers_and_the_stated_size():
    encoder = SEResNet9(1, 64, 64, 512)
    blocks = [m for m in encoder.body if isinstance(m, FixupBlock)]
    assert [block.second.out_channels for block in blocks] == [64, 128, 256, 512]
    # 9 = the stem and two 3x3 convolutions in each block
    assert 1 + 2 * len(blocks) == 9
    assert not [m for m in encoder.modules() if "Norm" in type(m).__name__]
    expected = 16 * 64 + 64
    for inputs, p in ((64, 64), (64, 128), (128, 256), (256, 512)):
        narrow = p // 16
        expected += 9 * inputs * p + 9 * p * p + 5  # convolutions, biases and scale
        expected += (p * narrow + narrow) + (narrow * p + p)
        expected += inputs * p if inputs != p else 0
    assert count(encoder) == expected + 2048 * 512 + 512


def test_space_to_depth_keeps_every_pixel():
    stem = SEResNet9(1, 32, 32, 8).body[0]
    image = torch.arange(32 * 32.0).reshape(1, 1, 32, 32)
    patches = stem(image)
    assert patches.shape == (1, 16, 8, 8)
    torch.testing.assert_close(patches[0, :, 2, 3], image[0, 0, 8:12, 12:16].reshape(-1))


def test_fixup_blocks_start_as_the_identity():
    torch.manual_seed(0)
    x = torch.rand(2, 8, 6, 6)
    block = FixupBlock(8, 8, 1, blocks=4)
    torch.testing.assert_close(block(x), x)
    down = FixupBlock(8, 16, 2, blocks=4)
    torch.testing.assert_close(down(x), torch.relu(down.shortcut(x)))


def test_fixup_shrinks_the_first_convolution_with_depth():
    torch.manual_seed(0)
    for blocks in (1, 4, 64):
        block = FixupBlock(32, 32, 1, blocks)
        expected = math.sqrt(2 / (9 * 32)) / math.sqrt(blocks)
        assert float(block.first.weight.detach().std()) == pytest.approx(expected, rel=0.05)


def test_activations_do_not_grow_with_depth():
    torch.manual_seed(0)
    images = torch.rand(4, 1, 32, 32)
    scales = {}
    for blocks in (1, 3, 6):
        encoder = SEResNet9(1, 32, 32, 8, planes=8, blocks=blocks)
        scales[blocks] = float(encoder.body(images).detach().square().mean().sqrt())
    first = float(torch.relu(images).square().mean().sqrt())
    assert all(0.3 * first < scale < 3 * first for scale in scales.values())
    # One step from the start they still do not: that is what the shrinking is for.
    encoder = SEResNet9(1, 32, 32, 8, planes=8, blocks=6)
    before = encoder(images)
    optimiser = torch.optim.SGD(encoder.parameters(), lr=1e-2)
    before.square().mean().backward()
    optimiser.step()
    change = (encoder(images) - before).detach().square().mean().sqrt()
    assert 0 < change < 0.5 * before.detach().square().mean().sqrt()


def test_squeeze_and_excitation_gates_by_the_whole_image():
    torch.manual_seed(0)
    excite = SqueezeExcite(32)
    assert excite.gate[0].out_features == 2  # r = 16
    x = torch.randn(3, 32, 5, 5)
    gates = (excite(x) / x)[:, :, 0, 0]
    torch.testing.assert_close(excite(x), x * gates[:, :, None, None])
    torch.testing.assert_close(gates, excite.gate(x.mean((2, 3))))
    assert ((gates > 0) & (gates < 1)).all()


def test_each_image_has_an_encoder_of_its_own():
    encoders = make_encoders("small_cnn", [1, 3], 40, 40, 9)
    images = [torch.rand(2, 1, 40, 40), torch.rand(2, 3, 40, 40)]
    whole = encoders(images)
    assert whole.shape == (2, 9)
    images[1][:] = 0.0  # the second image changes the last four numbers alone
    other = encoders(images)
    torch.testing.assert_close(other[:, :5], whole[:, :5])
    assert not torch.equal(other[:, 5:], whole[:, 5:])


def test_one_image_has_a_plain_encoder():
    assert isinstance(make_encoders("small_cnn", [3], 40, 40, 8), SmallCNN)


def test_more_images_than_features_are_an_error_of_one_line():
    with pytest.raises(UserError, match=r"^network\.visual_features must be at least 2"):
        make_encoders("small_cnn", [1, 1], 40, 40, 1)
