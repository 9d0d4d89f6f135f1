import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language.language import Language
from proxy.reuse.question import unframe
from tests.languages import EN, ES

FRAMED: list[tuple[Language, str, str]] = [
    (EN, "would you mind walking me through setting up a cron job", "how to setting up a cron job"),
    (EN, "would you mind telling me how to mock a function in jest", "how to mock a function in jest"),
    (EN, "could you please explain the oxford comma", "what is the oxford comma"),
    (EN, "i wish to enquire as to the duration of a driving theory test", "how long last a driving theory test"),
    (EN, "i would be grateful if you could tell me the symptoms of flu", "what is the symptoms of flu"),
    (EN, "i wonder if you could tell me where to report a broken light", "where to report a broken light"),
    (EN, "yo how do i hit up my boss for a raise", "how to hit up my boss for a raise"),
    (EN, "hey , do you know why the sky is blue , please", "why the sky is blue"),
    (EN, "any idea what a hedgehog eats", "what a hedgehog eats"),
    (EN, "on linux , what is the best way to list files", "on linux , how to list files"),
    (EN, "what is a good way of peeling garlic", "how to peeling garlic"),
    (EN, "which steps should i follow to reset a router", "how to reset a router"),
    (EN, "what should i do to renew a passport", "how to renew a passport"),
    (EN, "any tips for quitting smoking", "how to quitting smoking"),
    (EN, "how does one tie a bow tie", "how to tie a bow tie"),
    (EN, "what does force majeure mean in a contract", "what is force majeure in a contract"),
    (EN, "define osmosis", "what is osmosis"),
    (EN, "what the hell is a derivative", "what is a derivative"),
    (EN, "what is the reason that bread rises", "why bread rises"),
    (EN, "how come cats purr", "why cats purr"),
    (EN, "at what time does the sun set", "when does the sun set"),
    (EN, "how frequently should i water a cactus", "how often should i water a cactus"),
    (EN, "how does a roth ira differ from a traditional ira",
     "what is the difference between a roth ira and a traditional ira"),
    (EN, "how do jam and jelly differ", "what is the difference between jam and jelly"),
    (EN, "what is the price of a visa", "how much cost a visa"),
    (EN, "how much does a visa cost", "how much cost a visa"),
    (EN, "is it possible for me to freeze milk", "can freeze milk"),
    (EN, "what are the most common causes of hiccups", "what causes hiccups"),
    (EN, "what do you mean by entropy", "what is entropy"),
    (EN, "how does it feel to be deaf", "what is it like to be deaf"),
    (EN, "what is the right time to prune roses", "when is the best time to prune roses"),
    (EN, "is there a way i can stop snoring", "how to stop snoring"),
    (EN, "what can be done to stop snoring", "how to stop snoring"),
    (EN, "in your opinion , is pluto a planet", "is pluto a planet"),
    (EN, "do you think pluto is a planet", "pluto is a planet"),
    (EN, "can you recommend some books on owls", "what books on owls"),
    (ES, "cuales son las principales causas del hipo", "que causa hipo"),
    (ES, "como se siente ser sordo", "que se siente ser sordo"),
    (ES, "cual es el momento ideal para podar rosales", "cuando es el mejor momento para podar rosales"),
    (ES, "en tu opinion , pluton es un planeta", "pluton es un planeta"),
    (ES, "es cierto que pluton es un planeta", "pluton es un planeta"),
    (ES, "podrias recomendarme algunos libros de aves", "que libros de aves"),
    (ES, "me tiras la posta de como se cuida un bonsai", "como cuida un bonsai"),
    (ES, "le ruego me informe sobre la duracion del examen", "cuanto dura examen"),
    (ES, "disculpe , me podria decir donde encuentro mi cuil", "donde encuentro mi cuil"),
    (ES, "seria tan amable de indicarme cuando cambia la hora", "cuando cambia la hora"),
    (ES, "che , alguien sabe por que el cielo es azul", "por que el cielo es azul"),
    (ES, "quisiera saber de que modo se pide un aumento", "como pide un aumento"),
    (ES, "quisiera conocer el motivo por el cual sale turbia el agua", "por que sale turbia el agua"),
    (ES, "cuales son los pasos para dar de baja una tarjeta", "como dar de baja una tarjeta"),
    (ES, "que puedo hacer para dejar de fumar", "como dejar de fumar"),
    (ES, "como puedo congelar el guacamole", "como congelar el guacamole"),
    (ES, "me ensenas a restar fracciones", "como restar fracciones"),
    (ES, "que significa pro bono", "que es pro bono"),
    (ES, "en que consiste el interes compuesto", "que es el interes compuesto"),
    (ES, "quiero entender la fotosintesis", "que es la fotosintesis"),
    (ES, "explicame que corno es un derivado financiero", "que es un derivado financiero"),
    (ES, "a que se debe que el pan quede apelmazado", "por que el pan quede apelmazado"),
    (ES, "cual es la razon por la que vemos el cielo azul", "por que vemos el cielo azul"),
    (ES, "a que hora sale el sol", "cuando sale el sol"),
    (ES, "con que frecuencia se riega un cactus", "cada_cuanto se riega un cactus"),
    (ES, "en que se diferencia un acta de una minuta", "que diferencia entre un acta y una minuta"),
    (ES, "cual es el precio de una visa", "cuanto cuesta una visa"),
    (ES, "es posible congelar el guacamole", "puedo congelar el guacamole"),
    (ES, "para que sirve el colageno", "que utilidad el colageno"),
]  # fmt: skip
KEPT: list[tuple[Language, str]] = [
    (EN, "how did people make long-distance calls"),
    (EN, "how do plants make food"),
    (EN, "what is the cheapest way to fly to lima"),
    (EN, "explain in one line what recursion is"),
    (EN, "explain step by step how recursion works"),
    (EN, "describe the water cycle as a haiku"),
    (EN, "tell me a joke about lawyers"),
    (EN, "help me write a cover letter"),
    (EN, "do i need a visa"),
    (EN, "can you freeze milk"),
    (EN, "what is the meaning of life"),
    (EN, "i want to learn french"),
    (EN, "what does nasa stand for"),
    (EN, "in which year was kennedy shot"),
    (EN, "please"),
    (EN, "what do you mean by that"),
    (EN, "can you recommend a diet"),
    (EN, "what do you think about pluto"),
    (EN, "when is the worst time to prune roses"),
    (ES, "como es la vida en marte"),
    (ES, "me recomendas una dieta"),
    (ES, "que crees de pluton"),
    (ES, "como era la vida en la edad media"),
    (ES, "cual es la forma mas barata de viajar a lima"),
    (ES, "explicame en una linea que es el adn"),
    (ES, "contame un chiste sobre programadores"),
    (ES, "ayudame con una carta de renuncia"),
    (ES, "quiero aprender ingles"),
    (ES, "quiero que me paguen las horas extra"),
    (ES, "es posible que llueva"),
    (ES, "que significa la bandera de japon"),
    (ES, "como le transfiero plata a mi hermana"),
    (ES, "en que mes nacio gardel"),
    (ES, "por favor"),
]
APART: list[tuple[Language, str, str]] = [
    (EN, "show me the hidden files", "what are the hidden files"),
    (EN, "explain dna briefly", "explain dna"),
    (EN, "describe a sunset", "what is a sunset"),
    (EN, "how long is the nile", "how long does the nile last"),
    (EN, "how long does paint last", "how long does paint take"),
    (EN, "can you explain dna as if i were ten", "can you explain dna"),
    (ES, "mostrame los archivos ocultos", "que son los archivos ocultos"),
    (ES, "cuanto dura la pintura", "cuanto tarda la pintura"),
    (ES, "explicame el adn en una tabla", "explicame el adn"),
    (ES, "como me transfiere plata mi hermana", "como transfiere plata mi hermana"),
    (ES, "no se puede congelar", "se puede congelar"),
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


SENTENCES = {language: [str(row[1]) for row in (*FRAMED, *KEPT) if row[0] is language] for language in (ES, EN)}


@given(st.data(), st.sampled_from([ES, EN]))
def test_what_is_unframed_has_no_frame_left(data: st.DataObject, language: Language) -> None:
    parts = data.draw(st.lists(st.sampled_from(SENTENCES[language]), min_size=1, max_size=4))
    joint = data.draw(st.sampled_from([" ", " , ", " ? ", " . "]))
    once = unframe(joint.join(parts), language)
    assert unframe(once, language) == once


@given(st.data(), st.sampled_from([ES, EN]))
def test_words_of_frames_in_any_order_do_no_harm(data: st.DataObject, language: Language) -> None:
    said = sorted({word for sentence in SENTENCES[language] for word in sentence.split()})
    words = data.draw(st.lists(st.sampled_from(said), max_size=30))
    once = unframe(" ".join(words), language)
    assert unframe(once, language) == once


@given(st.text(max_size=200), st.sampled_from([ES, EN]))
def test_any_text_is_unframed_once(text: str, language: Language) -> None:
    once = unframe(text, language)
    assert unframe(once, language) == once


@pytest.mark.parametrize("repeated", ["could you please ", "what is the best ", "how is a b c ", "me podria usted "])
@pytest.mark.parametrize("language", [ES, EN])
def test_a_long_text_is_left_alone(repeated: str, language: Language) -> None:
    text = (repeated * 10_000)[:100_000]
    assert unframe(text, language) == text
    assert unframe(text[:999], language)
