"""What is a credential, which is never kept, and what only speaks of one."""

import pytest

from proxy.memory.credentials import has_credential
from proxy.memory.extract import extract


@pytest.mark.parametrize(
    "said",
    [
        "my wifi password is hunter22",
        "the password for Netflix is tomato",
        "my password: swordfish",
        "the alarm code is 4471",
        "my PIN is 1234",
        "PIN 4471",
        "my locker combination is 12-34-56",
        "my card number is 4111 1111 1111 1111",
        "5500 0000 0000 0004, exp 12/29",
        "my SSN is 123-45-6789",
        "key: sk-proj-abcdefghijklmnopqrstuv",
        "la clave del wifi es gatito77",
        "mi contrase\u00f1a es perro123",
        "el pin de mi tarjeta es 9981",
        "el c\u00f3digo de la alarma es 8812",
        "clave: 1234abc",
    ],
)
def test_a_password_a_key_a_code_and_a_card_are_credentials(said: str) -> None:
    assert has_credential(said)
    assert extract(f"Remember that {said}") == ()


@pytest.mark.parametrize(
    "said",
    [
        "my password is too long to type",
        "I use a password manager called Bitwarden",
        "my phone number is 612 345 678",
        "my library card is number 21234000112235",
        "my IBAN is ES91 2100 0418 4502 0005 1332",
        "I work on token rings",
        "the token limit is 4000",
        "the key to my success is sleep",
        "la clave es practicar todos los d\u00edas",
        "la clave de reservaci\u00f3n es QX7LPM",
        "mi tarjeta de cr\u00e9dito vence en 2027",
        "mi c\u00f3digo postal es 5000",
    ],
)
def test_what_only_speaks_of_one_is_none(said: str) -> None:
    assert not has_credential(said)
