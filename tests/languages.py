"""The languages that questions are compared in, for tests."""

from proxy.language.language import language_of

EN, ES = language_of("en"), language_of("es")
