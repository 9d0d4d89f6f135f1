from tests.lookup import measured


def test_a_look_up_by_intent_enters_few_frames_of_few_modules() -> None:
    found = measured()
    assert found["frames of a look-up"] <= 190
    assert found["modules of a look-up"] <= 21
