"""Do two messages, and two conversations, say the same? No word that only one of both has is forgiven, and
no cosine is asked."""

from collections.abc import Sequence

from proxy.language.detect import Language, language
from proxy.reuse.question import analyse
from proxy.reuse.verdict import judge

_NEVER = 2.0  # no cosine reaches it: a word that only one of both has is not forgiven


def agree(asked: str, earlier: str, spoken: Language, *, paraphrases: bool = True) -> bool:
    """Two messages. `paraphrases`: although a word has been replaced by a synonym."""
    if asked == earlier:
        return True
    if language(asked) != spoken or language(earlier) != spoken:
        return False
    questions = analyse(asked, spoken), analyse(earlier, spoken)
    return judge(*questions, 1.0, min_cosine=_NEVER, min_cosine_agreed=0.0, paraphrases=paraphrases).reused


def contexts_agree(asked: Sequence[str], earlier: Sequence[str], spoken: Language, *, paraphrases: bool) -> bool:
    """The user's part of two conversations. The assistant's is the same already where partitions are."""
    return len(asked) == len(earlier) and all(
        agree(*pair, spoken, paraphrases=paraphrases) for pair in zip(asked, earlier, strict=True)
    )
