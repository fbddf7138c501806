import pytest

from ver.public import ROOT, without_private_folders


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("/home/somebody/keep/nav.safetensors", "nav.safetensors"),
        ("~/keep/nav.safetensors", "nav.safetensors"),
        ("../keep/nav.safetensors", "nav.safetensors"),
        (f"{ROOT}/data/checkpoints/pick.safetensors", "data/checkpoints/pick.safetensors"),
        ("data/checkpoints/pick.safetensors", "data/checkpoints/pick.safetensors"),
        ("runs/pick", "runs/pick"),
        ("/my own/folder/a.json", "a.json"),
        ("/home/somebody/{split}.json.gz", "{split}.json.gz"),
        ("habitat.dataset.data_path=/home/somebody/a.json", "habitat.dataset.data_path=a.json"),
        (
            "learned,pick=/home/me/p.safetensors,place=oracle",
            "learned,pick=p.safetensors,place=oracle",
        ),
        ("--json=~/a/b.json", "--json=b.json"),
        ("pick and/or place", "pick and/or place"),
        ("https://example.org/a/b", "https://example.org/a/b"),
        ("", ""),
    ],
)
def test_paths_lose_their_private_folders(given, told):
    assert without_private_folders(given) == told


def test_all_strings_of_a_value_are_looked_at_and_nothing_else_is_changed():
    given = {"a": ["/x/y.gz", 1, None], "b": {"c": ("/x/z", 0.5, True)}}
    assert without_private_folders(given) == {"a": ["y.gz", 1, None], "b": {"c": ["z", 0.5, True]}}
