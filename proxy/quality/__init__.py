"""Quality of managed answers: for a share of the managed requests the same request is asked once more as it was, and
both answers are compared. All that decides is here and pure; the sample itself is a part of the pipeline
(`pipeline/mirror.py`).

choosing.py    which requests are mirrored, and what one may cost
comparing.py   whether the managed answer has held, by what can be measured
holdings.py    for it: numbers, names and words of an answer
judging.py     the same by a model that judges: its question, and how its verdict is read
held.py        the share of answers that have held, with its interval

`prompts/` has what the judge is told, a file for each language.
"""
