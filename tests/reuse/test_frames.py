import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language.detect import Language
from proxy.reuse.frames import unframe

FRAMED: list[tuple[Language, str, str]] = [
    ("en", "would you mind walking me through setting up a cron job", "how to setting up a cron job"),
    ("en", "would you mind telling me how to mock a function in jest", "how to mock a function in jest"),
    ("en", "could you please explain the oxford comma", "what is the oxford comma"),
    ("en", "i wish to enquire as to the duration of a driving theory test", "how long last a driving theory test"),
    ("en", "i would be grateful if you could tell me the symptoms of flu", "what is the symptoms of flu"),
    ("en", "i wonder if you could tell me where to report a broken light", "where to report a broken light"),
    ("en", "yo how do i hit up my boss for a raise", "how to hit up my boss for a raise"),
    ("en", "hey , do you know why the sky is blue , please", "why the sky is blue"),
    ("en", "any idea what a hedgehog eats", "what a hedgehog eats"),
    ("en", "on linux , what is the best way to list files", "on linux , how to list files"),
    ("en", "what is a good way of peeling garlic", "how to peeling garlic"),
    ("en", "which steps should i follow to reset a router", "how to reset a router"),
    ("en", "what should i do to renew a passport", "how to renew a passport"),
    ("en", "any tips for quitting smoking", "how to quitting smoking"),
    ("en", "how does one tie a bow tie", "how to tie a bow tie"),
    ("en", "what does force majeure mean in a contract", "what is force majeure in a contract"),
    ("en", "define osmosis", "what is osmosis"),
    ("en", "what the hell is a derivative", "what is a derivative"),
    ("en", "what is the reason that bread rises", "why bread rises"),
    ("en", "how come cats purr", "why cats purr"),
    ("en", "at what time does the sun set", "when does the sun set"),
    ("en", "how frequently should i water a cactus", "how often should i water a cactus"),
    ("en", "how does a roth ira differ from a traditional ira",
     "what is the difference between a roth ira and a traditional ira"),
    ("en", "how do jam and jelly differ", "what is the difference between jam and jelly"),
    ("en", "what is the price of a visa", "how much cost a visa"),
    ("en", "how much does a visa cost", "how much cost a visa"),
    ("en", "is it possible for me to freeze milk", "can freeze milk"),
    ("en", "what are the most common causes of hiccups", "what causes hiccups"),
    ("en", "what do you mean by entropy", "what is entropy"),
    ("en", "how does it feel to be deaf", "what is it like to be deaf"),
    ("en", "what is the right time to prune roses", "when is the best time to prune roses"),
    ("en", "is there a way i can stop snoring", "how to stop snoring"),
    ("en", "what can be done to stop snoring", "how to stop snoring"),
    ("en", "in your opinion , is pluto a planet", "is pluto a planet"),
    ("en", "do you think pluto is a planet", "pluto is a planet"),
    ("en", "can you recommend some books on owls", "what books on owls"),
    ("es", "cuales son las principales causas del hipo", "que causa hipo"),
    ("es", "como se siente ser sordo", "que se siente ser sordo"),
    ("es", "cual es el momento ideal para podar rosales", "cuando es el mejor momento para podar rosales"),
    ("es", "en tu opinion , pluton es un planeta", "pluton es un planeta"),
    ("es", "es cierto que pluton es un planeta", "pluton es un planeta"),
    ("es", "podrias recomendarme algunos libros de aves", "que libros de aves"),
    ("es", "me tiras la posta de como se cuida un bonsai", "como cuida un bonsai"),
    ("es", "le ruego me informe sobre la duracion del examen", "cuanto dura examen"),
    ("es", "disculpe , me podria decir donde encuentro mi cuil", "donde encuentro mi cuil"),
    ("es", "seria tan amable de indicarme cuando cambia la hora", "cuando cambia la hora"),
    ("es", "che , alguien sabe por que el cielo es azul", "por que el cielo es azul"),
    ("es", "quisiera saber de que modo se pide un aumento", "como pide un aumento"),
    ("es", "quisiera conocer el motivo por el cual sale turbia el agua", "por que sale turbia el agua"),
    ("es", "cuales son los pasos para dar de baja una tarjeta", "como dar de baja una tarjeta"),
    ("es", "que puedo hacer para dejar de fumar", "como dejar de fumar"),
    ("es", "como puedo congelar el guacamole", "como congelar el guacamole"),
    ("es", "me ensenas a restar fracciones", "como restar fracciones"),
    ("es", "que significa pro bono", "que es pro bono"),
    ("es", "en que consiste el interes compuesto", "que es el interes compuesto"),
    ("es", "quiero entender la fotosintesis", "que es la fotosintesis"),
    ("es", "explicame que corno es un derivado financiero", "que es un derivado financiero"),
    ("es", "a que se debe que el pan quede apelmazado", "por que el pan quede apelmazado"),
    ("es", "cual es la razon por la que vemos el cielo azul", "por que vemos el cielo azul"),
    ("es", "a que hora sale el sol", "cuando sale el sol"),
    ("es", "con que frecuencia se riega un cactus", "cada_cuanto se riega un cactus"),
    ("es", "en que se diferencia un acta de una minuta", "que diferencia entre un acta y una minuta"),
    ("es", "cual es el precio de una visa", "cuanto cuesta una visa"),
    ("es", "es posible congelar el guacamole", "puedo congelar el guacamole"),
    ("es", "para que sirve el colageno", "que utilidad el colageno"),
]  # fmt: skip
KEPT: list[tuple[Language, str]] = [
    ("en", "how did people make long-distance calls"),
    ("en", "how do plants make food"),
    ("en", "what is the cheapest way to fly to lima"),
    ("en", "explain in one line what recursion is"),
    ("en", "explain step by step how recursion works"),
    ("en", "describe the water cycle as a haiku"),
    ("en", "tell me a joke about lawyers"),
    ("en", "help me write a cover letter"),
    ("en", "do i need a visa"),
    ("en", "can you freeze milk"),
    ("en", "what is the meaning of life"),
    ("en", "i want to learn french"),
    ("en", "what does nasa stand for"),
    ("en", "in which year was kennedy shot"),
    ("en", "please"),
    ("en", "what do you mean by that"),
    ("en", "can you recommend a diet"),
    ("en", "what do you think about pluto"),
    ("en", "when is the worst time to prune roses"),
    ("es", "como es la vida en marte"),
    ("es", "me recomendas una dieta"),
    ("es", "que crees de pluton"),
    ("es", "como era la vida en la edad media"),
    ("es", "cual es la forma mas barata de viajar a lima"),
    ("es", "explicame en una linea que es el adn"),
    ("es", "contame un chiste sobre programadores"),
    ("es", "ayudame con una carta de renuncia"),
    ("es", "quiero aprender ingles"),
    ("es", "quiero que me paguen las horas extra"),
    ("es", "es posible que llueva"),
    ("es", "que significa la bandera de japon"),
    ("es", "como le transfiero plata a mi hermana"),
    ("es", "en que mes nacio gardel"),
    ("es", "por favor"),
]
APART: list[tuple[Language, str, str]] = [
    ("en", "show me the hidden files", "what are the hidden files"),
    ("en", "explain dna briefly", "explain dna"),
    ("en", "describe a sunset", "what is a sunset"),
    ("en", "how long is the nile", "how long does the nile last"),
    ("en", "how long does paint last", "how long does paint take"),
    ("en", "can you explain dna as if i were ten", "can you explain dna"),
    ("es", "mostrame los archivos ocultos", "que son los archivos ocultos"),
    ("es", "cuanto dura la pintura", "cuanto tarda la pintura"),
    ("es", "explicame el adn en una tabla", "explicame el adn"),
    ("es", "como me transfiere plata mi hermana", "como transfiere plata mi hermana"),
    ("es", "no se puede congelar", "se puede congelar"),
]


@pytest.mark.parametrize(("language", "asked", "canonical"), FRAMED)
def test_a_frame_is_taken_off_and_the_question_has_one_form(language: Language, asked: str, canonical: str) -> None:
    assert unframe(asked, language) == canonical


@pytest.mark.parametrize(("language", "asked"), KEPT)
def test_what_is_no_frame_stays(language: Language, asked: str) -> None:
    assert unframe(asked, language) == asked


@pytest.mark.parametrize(("language", "one", "other"), APART)
def test_two_questions_stay_two(language: Language, one: str, other: str) -> None:
    assert unframe(one, language) != unframe(other, language)


SENTENCES = {language: [row[1] for row in (*FRAMED, *KEPT) if row[0] == language] for language in ("es", "en")}


@given(st.data(), st.sampled_from(["es", "en"]))
def test_what_is_unframed_has_no_frame_left(data: st.DataObject, language: Language) -> None:
    parts = data.draw(st.lists(st.sampled_from(SENTENCES[language]), min_size=1, max_size=4))
    joint = data.draw(st.sampled_from([" ", " , ", " ? ", " . "]))
    once = unframe(joint.join(parts), language)
    assert unframe(once, language) == once


@given(st.data(), st.sampled_from(["es", "en"]))
def test_words_of_frames_in_any_order_do_no_harm(data: st.DataObject, language: Language) -> None:
    said = sorted({word for sentence in SENTENCES[language] for word in sentence.split()})
    words = data.draw(st.lists(st.sampled_from(said), max_size=30))
    once = unframe(" ".join(words), language)
    assert unframe(once, language) == once


@given(st.text(max_size=200), st.sampled_from(["es", "en"]))
def test_any_text_is_unframed_once(text: str, language: Language) -> None:
    once = unframe(text, language)
    assert unframe(once, language) == once


@pytest.mark.parametrize("repeated", ["could you please ", "what is the best ", "how is a b c ", "me podria usted "])
@pytest.mark.parametrize("language", ["es", "en"])
def test_a_long_text_is_left_alone(repeated: str, language: Language) -> None:
    text = (repeated * 10_000)[:100_000]
    assert unframe(text, language) == text
    assert unframe(text[:999], language)
