"""Seeding where there is no device but the CPU: the same numbers, no word left for devices, all as before."""

import pytest

torch = pytest.importorskip("torch")

from opproof.harness.check.variants.inputs import seeded  # noqa: E402 - torch may be missing


def seeds():
    return [kind.manual_seed_all for kind in (torch.cuda, torch.xpu, torch.mtia)]


OWN = seeds()


def test_the_numbers_are_those_of_the_seed_and_the_state_is_that_of_before():
    torch.manual_seed(7)
    wanted = torch.randn(5)
    state = torch.get_rng_state()
    with seeded(torch, 7):
        drawn = torch.randn(5)
        torch.manual_seed(7)
        again = torch.randn(5)
    assert torch.equal(drawn, wanted)
    assert torch.equal(again, wanted)
    assert torch.equal(torch.get_rng_state(), state)


def test_no_word_is_left_for_devices_that_there_are_not(monkeypatch):
    monkeypatch.setattr("traceback.format_stack", None)
    with seeded(torch, 7):
        torch.manual_seed(8)
    assert seeds() == OWN
    with pytest.raises(TypeError):
        torch.manual_seed(8)


def test_what_a_factory_raises_leaves_all_as_it_was():
    with pytest.raises(ZeroDivisionError), seeded(torch, 7):
        1 / 0  # noqa: B018 - it raises
    assert seeds() == OWN


def test_a_device_is_seeded_too(monkeypatch):
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("cuda"))
    with seeded(torch, 7):
        assert seeds() == OWN
