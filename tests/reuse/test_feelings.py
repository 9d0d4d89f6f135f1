import pytest

from proxy.language.words import plain
from proxy.reuse.gate import emotional

EMOTIONAL = """
Estoy triste.
Hoy me siento muy mal.
Ando bajoneada desde que corté con mi novio.
Mi novia me dejó y no paro de llorar.
Me da mucha vergüenza hablar en público y sufro un montón.
Tengo miedo de perder el trabajo.
No aguanto más a mi suegra.
Estoy re contenta, ¡aprobé el final!
Extraño un montón a mi abuela.
Siento que no valgo nada.
No tengo ganas de levantarme de la cama.
Falleció mi papá la semana pasada.
Estoy que exploto de la bronca.
Me rompieron el corazón.
Nadie se acordó de mi cumpleaños.
¿Por qué me pasa todo a mí?
Estoy sacado de onda, mi jefe me corrió.
Me siento como una basura.
No sé qué hacer con mi vida.
Mi marido ya no me mira.
Me peleé con mi mejor amiga y me siento culpable.
Estoy agotada, no doy más.
Tuve un ataque de pánico en el subte.
Me odio por lo que hice.
Quiero desaparecer.
Estoy muerta de miedo por la operación de mi hijo.
Qué bronca me da que me mientan.
Me late el corazón a mil, no puedo respirar.
Perdí un embarazo y nadie entiende mi dolor.
Estoy orgulloso de mi hija.
Me cuesta confiar en la gente después de lo que me hicieron.
Lloro todas las noches.
Estoy en la lona, todo me sale mal.
Me encuentro fatal desde que lo dejamos.
Estoy ilusionada con un chico pero tengo miedo de que me rechace.
No me animo a salir de casa.
Mis papás se están separando y no sé qué sentir.
Vivo angustiado por la plata.
Me hierve la sangre cuando pienso en lo que me hizo.
Estoy rayado con mi hermano, no me habla hace meses.
Estoy nerviosísimo por la entrevista.
Me enojé con mi vieja y ahora me arrepiento.
Ya nada tiene sentido.
Me dan ganas de tirar todo a la mierda.
Me siento re sapo de otro pozo en la oficina.
Soy un inútil, siempre arruino todo.
Qué feliz que soy, voy a ser papá.
Me agüité un chorro con lo que me dijo mi carnal.
Estoy rallada, tío, no levanto cabeza.
I feel sad.
I'm so depressed lately.
My girlfriend dumped me and I can't stop crying.
I'm terrified of flying and my flight is soon.
I'm over the moon, I got the job!
My dog died and the house is so quiet.
I hate my life.
Nobody understands me.
I'm scared I'll lose my job.
I can't cope with this anymore.
I feel like nobody likes me at work.
I'm really worried about my mom's surgery.
I'm ashamed of what I said at the party.
I've been feeling down since the breakup.
My husband doesn't love me anymore.
I don't want to live like this.
I'm sick and tired of being ignored.
I had a panic attack on the train.
I just want someone to listen.
I'm proud of myself for once.
It hurts so much that she left.
I lost my grandfather and I miss him terribly.
I'm burned out and I dread every Monday.
I think about death all the time.
I'm so lonely in this city.
Everything makes me cry.
I'm freaking out about my exam.
I wish I had never been born.
My boss humiliated me in front of everyone.
I can't get over my ex.
I'm so happy I could dance.
I'm at the end of my rope.
My parents are getting divorced and it's tearing me apart.
I feel guilty for leaving my mom alone.
I don't know how to go on without her.
I'm stressed out about money.
I'm disgusted with myself.
Why does everyone leave me?
I'm not okay.
I can't believe he cheated on me.
It's killing me that we don't talk.
I've never felt so alone.
My son won't speak to me and it breaks my heart.
I'm worried sick about my sister.
I'm on edge all day and I don't know why.
I have no one to talk to.
I'm gutted that we lost the house.
I'm dying of embarrassment.
"""

CALM = """
Estoy usando Python 3.11 y quiero leer un archivo.
Estoy trabajando en una API con FastAPI, ¿cómo valido el cuerpo?
Estoy aprendiendo alemán, ¿cómo se forma el pasado?
Lo siento, quise decir PostgreSQL. ¿Cómo creo un índice?
¿Qué es la ansiedad?
¿Cuáles son los síntomas de la depresión?
¿Cómo se dice "me siento solo" en francés?
¿Qué es un ataque de pánico?
¿Cuál es el origen del miedo según Darwin?
Tengo una lista de números, ¿cómo la ordeno?
Tengo dos tablas, ¿cómo las uno?
¿Qué significa "tener el corazón en la boca"?
¿Quién escribió "Cien años de soledad"?
No entiendo qué es un puntero.
Mi código devuelve un error 404, ¿por qué?
Me gustaría saber cómo funciona un motor diésel.
I'm using React 18, how do I memoize a component?
I'm trying to sort a list of dicts by key.
I'm learning French; how is the past tense formed?
I have a table with two columns. How do I join it?
I want to understand recursion.
I need a regex that matches dates.
What is depression?
What are the symptoms of anxiety?
What does "I'm blue" mean?
What is the plot of Inside Out?
How do therapists treat panic disorder?
My code throws a TypeError, why?
I am writing an essay about the French Revolution, what were its causes?
I don't understand monads.
Feel free to use bullet points. What is TCP?
What is the happiness index?
"""


def lines(table: str) -> list[str]:
    return table.strip().splitlines()


@pytest.mark.note("5.2/2")
@pytest.mark.parametrize("text", lines(EMOTIONAL))
def test_tells_how_its_author_is(text: str) -> None:
    assert emotional(plain(text))


@pytest.mark.parametrize("text", lines(CALM))
def test_asks_without_feeling(text: str) -> None:
    assert not emotional(plain(text))
