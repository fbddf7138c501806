from nav.choices import ManyAgents, OneAgent
from rearrange.choices import Many, One
from rearrange.keywords import names_of


def test_agents_have_what_robots_have_and_where_they_are():
    where = {"sim", "dataset", "scenes"}
    assert set(names_of(OneAgent())) == where | set(names_of(One()))
    assert set(names_of(ManyAgents())) == where | {"sharing"} | set(names_of(Many()))
