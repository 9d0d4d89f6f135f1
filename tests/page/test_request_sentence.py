"""The sentence that a request begins with, in both languages, and what is put away or set apart: the page's own modules
in a browser, without a proxy's answers."""

from collections.abc import Callable
from typing import Any, get_args

import pytest

from proxy.admin.verdict import Cause, Kind
from tests.page.conftest import Open, Page
from tests.page.talk import Talked

pytestmark = pytest.mark.long  # in a browser; test_login.py is the quick one

Tab = Callable[..., Page]

SENTENCE = """([language, verdicts]) => Promise.all([
  import('/ui/lib/i18n.js'), import('/ui/views/request_sentence.js'), import('/ui/i18n/request.js'),
]).then(([i18n, {sentence, tone}, {default: words}]) => {
  i18n.register(words);
  i18n.setLang(language);
  return verdicts.map((each) => [sentence(each), tone(each)]).concat([[[...i18n.missing].join(), null]]);
})"""


def so(cost: float, passthrough: float, original: int = 100, sent: int = 50) -> dict[str, Any]:
    return {"requests": 3, "cost": cost, "passthrough": passthrough, "original": original, "sent": sent}


HALF = so(1.0, 2.0)
# kind, cause, dollars, share, tokens, the conversation so far; how it is set apart; English; Spanish
Row = tuple[Kind, Cause, float, float | None, int, dict[str, Any] | None, str | None, str, str]
ROWS: list[Row] = [
    ("dearer", "recalled", -0.0001, None, 2_561, HALF, None,
     "0.01 ¢ dearer than pass-through now, because 2,561 tokens were recalled; the conversation so far is 50% cheaper.",
     ("0,01 ¢ más caro que el envío directo por ahora, porque se recordaron 2.561 tokens; hasta ahora la conversación"
     " es un 50 % más barata.")),
    ("dearer", "rewritten", -0.02, -0.1, 1, so(1.5, 1.0), "warn",
     ("2 ¢ (10%) dearer than pass-through now, because 1 token that the provider had cached was billed anew after a"
     " fold; the conversation so far is 50% dearer."),
     ("2 ¢ (10 %) más caro que el envío directo por ahora, porque tras un pliegue se volvió a cobrar 1 token que el"
     " proveedor tenía en caché; hasta ahora la conversación es un 50 % más cara.")),
    ("dearer", "remembered", -0.0012, -0.04, 14, None, "warn",
     "0.12 ¢ (4%) dearer than pass-through now, because memory added 14 tokens of summaries and facts.",
     "0,12 ¢ (4 %) más caro que el envío directo por ahora, porque la memoria sumó 14 tokens de resúmenes y hechos."),
    ("dearer", "desk", -0.0012, -0.04, 30, so(1.0, 1.0), None,
     ("0.12 ¢ (4%) dearer than pass-through now, because the model's own memory added 30 tokens; the conversation so"
     " far costs the same as well."),
     ("0,12 ¢ (4 %) más caro que el envío directo por ahora, porque la memoria propia del modelo sumó 30 tokens; hasta"
     " ahora la conversación también cuesta lo mismo.")),
    ("dearer", "other", -0.00001, None, 0, None, "warn",
     "0.001 ¢ dearer than pass-through now.", "0,001 ¢ más caro que el envío directo por ahora."),
    ("cheaper", "left-out", 0.25, 0.5, 3_013, None, "accent",
     "25 ¢ (50%) cheaper than pass-through, because 3,013 tokens were left out.",
     "25 ¢ (50 %) más barato que el envío directo, porque se omitieron 3.013 tokens."),
    ("cheaper", "other", 3.5, None, 0, None, "accent",
     "$3.50 cheaper than pass-through.", "$3,50 más barato que el envío directo."),
    ("same", "untouched", 0, 0, 0, so(0.9, 0.9), None,
     "Costs the same as pass-through, since it was sent as it came; the conversation so far costs the same as well.",
     ("Cuesta lo mismo que el envío directo, porque se envió tal como llegó; hasta ahora la conversación también"
     " cuesta lo mismo.")),
    ("same", "metered", 0, 0, 60, None, None,
     "Costs the same as pass-through, since context management only measures here; it would have left out 60 tokens.",
     "Cuesta lo mismo que el envío directo, porque acá la gestión de contexto solo mide; habría omitido 60 tokens."),
    ("same", "metered", 0, 0, -5, None, None,
     "Costs the same as pass-through, since context management only measures here; it would have left nothing out.",
     "Cuesta lo mismo que el envío directo, porque acá la gestión de contexto solo mide; no habría omitido nada."),
    ("same", "fail-open", 0, 0, 0, None, None,
     "Costs the same as pass-through: a stage of ours failed, so it went through unmanaged.",
     "Cuesta lo mismo que el envío directo: falló una etapa nuestra y pasó sin gestionar."),
    ("same", "returned", 0, 0, 0, None, None,
     "Costs the same as pass-through, since its conversation has returned to that.",
     "Cuesta lo mismo que el envío directo, porque su conversación volvió a él."),
    ("same", "rollout", 0, 0, 0, None, None,
     "Costs the same as pass-through, since the rollout leaves it unmanaged.",
     "Cuesta lo mismo que el envío directo, porque la configuración lo deja sin gestionar."),
    ("same", "unmanaged", 0, 0, 0, None, None,
     "Costs the same as pass-through, since requests to this route go through unmanaged.",
     "Cuesta lo mismo que el envío directo, porque los pedidos a esta ruta pasan sin gestionar."),
    ("same", "over-budget", 0, 0, 0, None, None,
     "Costs the same as pass-through: it exceeds its limit, and nothing could be left out.",
     "Cuesta lo mismo que el envío directo: supera su límite y no había nada que omitir."),
    ("reused", "exact", 0.0042, 1, 900, HALF, "accent",
     "Free, since an identical request had been answered before; 0.42 ¢ saved; the conversation so far is 50% cheaper.",
     ("Gratis, porque ya se había respondido un pedido idéntico; ahorró 0,42 ¢; hasta ahora la conversación es un 50 %"
     " más barata.")),
    ("reused", "intent", 0, None, 900, so(0, 0), "accent",
     ("Free, since the same question had been answered before, in other words; 900 tokens saved; the conversation so"
     " far has sent 50% fewer tokens."),
     ("Gratis, porque ya se había respondido la misma pregunta con otras palabras; ahorró 900 tokens; hasta ahora la"
     " conversación envió un 50 % menos de tokens.")),
    ("own", "command", 0, None, 0, None, None,
     "Free: a command, which the proxy answered itself.", "Gratis: es una orden que respondió el propio proxy."),
    ("own", "memory", 0, None, 0, None, None,
     "Asked by the model that helps memory: a part of what memory costs.",
     "Lo pidió el modelo que ayuda a la memoria: es parte de lo que la memoria cuesta."),
    ("failed", "upstream", 0, None, 0, None, "danger",
     "Nothing was billed, since the upstream failed.", "No se cobró nada, porque falló el proveedor."),
    ("failed", "client", 0, None, 0, None, "danger",
     "Nothing was billed, since the client left before the answer.",
     "No se cobró nada, porque el cliente se fue antes de la respuesta."),
    ("failed", "ours", 0, None, 0, None, "danger",
     "Nothing was billed, since the proxy itself failed.", "No se cobró nada, porque falló el propio proxy."),
    ("unpriced", "left-out", 0, None, 600, so(0, 0, 100, 150), None,
     ("600 tokens fewer than pass-through; this upstream has no price, so no money can be told; the conversation so far"
     " has sent 50% more tokens."),
     ("600 tokens menos que con el envío directo; este proveedor no tiene precio configurado, así que no se puede"
     " hablar de dinero; hasta ahora la conversación envió un 50 % más de tokens.")),
    ("unpriced", "remembered", 0, None, 1, so(0, 0, 100, 100), None,
     ("Memory added 1 token; this upstream has no price, so no money can be told; the conversation so far has sent as"
     " many."),
     ("La memoria sumó 1 token; este proveedor no tiene precio configurado, así que no se puede hablar de dinero; hasta"
     " ahora la conversación envió la misma cantidad.")),
    ("unpriced", "untouched", 0, None, 0, None, None,
     "As many tokens as pass-through; this upstream has no price, so no money can be told.",
     ("Tantos tokens como con el envío directo; este proveedor no tiene precio configurado, así que no se puede hablar"
     " de dinero.")),
]  # fmt: skip
NAMES = ("kind", "cause", "dollars", "share", "tokens", "so_far")


@pytest.mark.parametrize("language", ["en", "es"])
def test_every_verdict_has_its_sentence(page: Page, language: str) -> None:
    page.open("#/now")
    given = [dict(zip(NAMES, row, strict=False)) for row in ROWS]
    *told, (missing, _) = page.tab.evaluate(SENTENCE, [language, given])
    said = [[str(each).replace("\N{NO-BREAK SPACE}", " "), tone] for each, tone in told]
    assert said == [[row[7 if language == "en" else 8], row[6]] for row in ROWS]
    assert missing == ""


def test_every_kind_and_cause_has_a_row() -> None:
    assert {row[0] for row in ROWS} == {*get_args(Kind)}
    assert {row[1] for row in ROWS} == {*get_args(Cause)}


RUNS = """(fates) => import('/ui/views/request_runs.js').then(({runs}) =>
  runs(fates.map((fate, index) => ({fate, index}))).map(({message, run}) =>
    run ? [run[0].index, run.at(-1).index] : message.index))"""


@pytest.mark.parametrize(
    ("fates", "told"),
    [
        ([], []),
        (["kept"], [0]),
        (["kept", "folded", "folded", "kept"], [0, 1, 2, 3]),
        (["kept", *["folded"] * 3, "kept"], [0, [1, 3], 4]),
        ([*["folded"] * 3, *["left out"] * 4, "recalled"], [[0, 2], [3, 6], 7]),
        (["marker"] * 5, [[0, 4]]),
        (["kept"] * 12, [*range(12)]),
        (["kept"] * 13, [0, 1, [2, 6], *range(7, 13)]),
        (["recalled"] * 4, [0, 1, 2, 3]),
    ],
)
def test_runs_of_one_fate_are_put_away(page: Page, fates: list[str], told: list[Any]) -> None:
    page.open("#/now")
    assert page.tab.evaluate(RUNS, fates) == told


JSONS = [
    ("{}", "{}", []),
    ('{"a":1,"b":"x, y"}', '{"a": 1, "b": "x, y"}', [["a", "1"], ["b", '"x, y"']]),
    ('{"id":12345678901234567890}', '{"id": 12345678901234567890}', [["id", "12345678901234567890"]]),
    ('{"a":[1,{"b":2}]}', '{\n  "a": [\n    1,\n    {"b": 2}\n  ]\n}', [["a", '[\n  1,\n  {"b": 2}\n]']]),
    ('["a}","\\"]"]', '["a}", "\\"]"]', None),
    ("[1, 2", None, None),
    ("7", None, None),
    ("plain words", None, None),
]
PRETTY = (
    "(texts) => import('/ui/lib/json.js').then((json) => texts.map((each) => [json.pretty(each), json.members(each)]))"
)


def test_json_is_put_into_lines_and_loses_no_digit(page: Page) -> None:
    page.open("#/now")
    assert page.tab.evaluate(PRETTY, [each[0] for each in JSONS]) == [[*each[1:]] for each in JSONS]


TEXTS = [
    ("only words", [["text", "only words"]]),
    ("first\n```py\nx = 1\n\ny = 2\n```\nthen", [["text", "first"], ["code", "x = 1\n\ny = 2"], ["text", "then"]]),
    ("~~~\nnever closed", [["code", "never closed"]]),
    ('{"a":1}', [["code", '{"a": 1}']]),
    ("a ``` in a line", [["text", "a ``` in a line"]]),
    ("", []),
]
BLOCKS = """(texts) => import('/ui/lib/passage.js').then(({blocks}) =>
  texts.map((each) => blocks(each).map(({kind, text}) => [kind, text])))"""


def test_code_is_told_from_words(page: Page) -> None:
    page.open("#/now")
    assert page.tab.evaluate(BLOCKS, [each[0] for each in TEXTS]) == [each[1] for each in TEXTS]


def test_a_request_begins_with_its_sentence(tab: Tab, proxy: Open, talked: Talked) -> None:
    for request, english in ((talked.reused, "Free, since an identical request"), (talked.first, "Costs the same")):
        page = tab(proxy).open(f"#/request/{request}", ready=".verdict")
        assert page.text(".verdict").startswith(english)
        following = "document.querySelector('.view-request').children[1].className"
        assert "verdict" in page.tab.evaluate(following)
