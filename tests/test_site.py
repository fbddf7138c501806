"""What the hooks of the documentation site make of its pages."""

import importlib.util
import re

import pytest

from tests.helpers import ROOT

pytest.importorskip("mkdocs")


def hook(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LINKS, LINES = hook("docs_links"), hook("docs_lines")


@pytest.mark.parametrize(
    ("page", "text", "on_the_site"),
    [
        ("docs/ver.md", "[a](../ver/ppo.py)", "[a](source/ver/ppo.py.md)"),
        ("docs/skills/pick.md", "[a](../../ver/ppo.py)", "[a](../source/ver/ppo.py.md)"),
        ("docs/skills/pick.md", "[a](../hab.md#pick)", "[a](../hab.md#pick)"),
        ("docs/ver.md", "[a](../README.md)", "[a](index.md)"),
        ("README.md", "[a](docs/hab.md) ![b](docs/pick.png)", "[a](hab.md) ![b](pick.png)"),
        ("README.md", "[a](results/README.md)", "[a](source/results/README.md)"),
        ("results/README.md", "[a](pick.json)", "[a](pick.json)"),
        ("results/README.md", "[a](../docs/hab.md)", "[a](../../hab.md)"),
        ("docs/ver.md", "[a](https://example.org/x.py)", "[a](https://example.org/x.py)"),
        ("docs/ver.md", "[a](../ver/gone.py)", "[a](../ver/gone.py)"),  # fails the strict build
        ("docs/ver.md", "[a](../../outside.md)", "[a](../../outside.md)"),
    ],
)
def test_links_to_files_of_the_repository_lead_to_pages_of_the_site(page, text, on_the_site):
    assert LINKS.with_links(text, ROOT / page) == on_the_site


def test_a_file_of_code_is_a_page_that_no_search_finds():
    page = LINKS.content_of(ROOT / "ver" / "gae.py")
    assert page.startswith("---\nsearch:\n  exclude: true\n---\n# ver/gae.py\n\n``````python\n")
    assert (ROOT / "ver" / "gae.py").read_text() in page


def test_options_and_figures_are_not_broken():
    html = "<p><code>--seed</code></p><td>1.5 [1.0, 2.0]</td>"
    marked = LINES.on_page_content(html, None, None, None)
    assert marked == (
        '<p><code class="whole">--seed</code></p><td><span class="whole">1.5 [1.0, 2.0]</span></td>'
    )


@pytest.mark.parametrize("name", ["add_scenario.md", "add_skill.md", "examples.md"])
def test_code_that_a_page_takes_in_is_there(name):
    lines = [line for line in (ROOT / "docs" / name).read_text().splitlines() if "8<" in line]
    assert lines
    for line in lines:
        found = re.fullmatch(r'--8<-- "(.+)"', line)
        assert found, line
        assert (ROOT / found[1]).is_file()
